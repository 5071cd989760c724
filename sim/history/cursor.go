package history

import "slices"

// Cursor is a place in a history with the state of every host there. It moves both ways: backwards it goes on from the nearest
// checkpoint before, which it made on its way.
//
//	c := history.NewCursor(h)
//	c.Go(1234)
//	c.Hosts[0].Value("role")
type Cursor struct {
	History *History
	At      int32 // the event that has just happened; -1 before the first
	Hosts   []HostState

	checkpoints []checkpoint
}

// HostState is what is true of a host.
type HostState struct {
	Up     bool
	Boot   int32
	Facets []Facet   // in the order in which they were first told
	Log    []LogEdit // the records that it has, ascending: edits that append
}

type checkpoint struct {
	at    int32
	hosts []HostState
}

// checkpointEvery is how many events lie between two checkpoints.
const checkpointEvery = 2048

// NewCursor returns a cursor before the first event.
func NewCursor(h *History) *Cursor {
	c := &Cursor{History: h, At: -1, Hosts: make([]HostState, len(h.Hosts))}
	c.checkpoints = append(c.checkpoints, checkpoint{-1, cloneHosts(c.Hosts)})
	return c
}

// Event returns the event at the cursor, nil before the first.
func (c *Cursor) Event() *Event {
	if c.At < 0 {
		return nil
	}
	return &c.History.Events[c.At]
}

// Value returns a facet of the host, "" when it has none of that name.
func (s *HostState) Value(name string) string {
	for i := range s.Facets {
		if s.Facets[i].Name == name {
			return s.Facets[i].Value
		}
	}
	return ""
}

// Next moves to the next event; false at the end.
func (c *Cursor) Next() bool {
	if int(c.At) >= len(c.History.Events)-1 {
		return false
	}
	c.At++
	c.apply(&c.History.Events[c.At])
	if last := c.checkpoints[len(c.checkpoints)-1].at; c.At >= last+checkpointEvery {
		c.checkpoints = append(c.checkpoints, checkpoint{c.At, cloneHosts(c.Hosts)})
	}
	return true
}

// Go moves to an event; a number that is none is moved to the nearest that is one.
func (c *Cursor) Go(seq int32) {
	seq = max(-1, min(seq, int32(len(c.History.Events))-1))
	if seq < c.At {
		i := len(c.checkpoints) - 1
		for c.checkpoints[i].at > seq {
			i--
		}
		c.At, c.Hosts = c.checkpoints[i].at, cloneHosts(c.checkpoints[i].hosts)
	}
	for c.At < seq {
		c.Next()
	}
}

// apply takes in what an event changes.
func (c *Cursor) apply(e *Event) {
	if e.Host < 0 {
		return
	}
	s := &c.Hosts[e.Host]
	switch e.Kind {
	case Down:
		s.Up, s.Facets = false, s.Facets[:0]
	case Boot:
		s.Up, s.Boot = true, e.Boot
	}
	for _, f := range e.Facets {
		i := slices.IndexFunc(s.Facets, func(have Facet) bool { return have.Name == f.Name })
		switch {
		case f.Value == "" && i >= 0:
			s.Facets = slices.Delete(s.Facets, i, i+1)
		case f.Value != "" && i >= 0:
			s.Facets[i].Value = f.Value
		case f.Value != "":
			s.Facets = append(s.Facets, f)
		}
	}
	for _, edit := range e.Log {
		switch edit.Do {
		case "append":
			s.Log = append(s.Log, edit)
		case "truncate":
			n := len(s.Log)
			for n > 0 && s.Log[n-1].Offset >= edit.Offset {
				n--
			}
			s.Log = s.Log[:n:n] // a checkpoint may hold what comes behind
		case "start":
			n := 0
			for n < len(s.Log) && s.Log[n].Offset < edit.Offset {
				n++
			}
			s.Log = s.Log[n:]
		}
	}
}

// cloneHosts copies states. Logs share memory: whoever appends to one gets room of its own.
func cloneHosts(hosts []HostState) []HostState {
	hosts = slices.Clone(hosts)
	for i := range hosts {
		s := &hosts[i]
		s.Facets = slices.Clone(s.Facets)
		s.Log = s.Log[:len(s.Log):len(s.Log)]
	}
	return hosts
}
