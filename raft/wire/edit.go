package wire

import (
	"fmt"
	"math"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// edit collects what normalizing does to a copy of a message: whether anything changed, and the first reason to refuse it.
type edit struct {
	changed bool
	err     error
}

// set gives a field a value.
func set[T comparable](e *edit, field *T, value T) {
	if *field != value {
		*field = value
		e.changed = true
	}
}

// drop makes a list nil.
func drop[T any](e *edit, list *[]T) {
	if *list != nil {
		*list = nil
		e.changed = true
	}
}

// trim makes an empty list nil.
func trim[T any](e *edit, list *[]T) {
	if len(*list) == 0 {
		drop(e, list)
	}
}

// finish returns the message itself when n, its edited copy, is no different, else a message that is.
func finish[T any, P interface {
	*T
	raft.Message
}](e *edit, m P, n *T) (raft.Message, error) {
	if e.err != nil {
		return nil, e.err
	}
	if !e.changed {
		return m, nil
	}
	out := *n
	return P(&out), nil
}

// refuse notes that a field says something that the version cannot carry.
func (e *edit) refuse(field string, version int16) {
	if e.err == nil {
		e.err = fmt.Errorf("%w: version %d has no %s", ErrUnsupportedVersion, version, field)
	}
}

// text refuses a text that is longer than Kafka can write (formats 1, rule 5).
func (e *edit) text(s string) {
	if len(s) > math.MaxInt16 && e.err == nil {
		e.err = fmt.Errorf("%w: a text of %d bytes", ErrMalformed, len(s))
	}
}

// header sets what the kind of message says about its header.
func (e *edit) header(h *raft.Header, response bool) { set(e, &h.Response, response) }

// clusterID takes the letters from a null cluster id.
func (e *edit) clusterID(c *raft.ClusterID) {
	if !c.Known {
		set(e, &c.ID, "")
	}
	e.text(c.ID)
}

// message takes the letters from a null error message.
func (e *edit) message(m *raft.ErrorMessage) {
	if !m.Known {
		set(e, &m.Text, "")
	}
	e.text(m.Text)
}

// noEndpoint is the endpoint of a response that names none.
var noEndpoint = raft.NodeEndpoint{NodeID: -1}

// endpoint drops the endpoint of a response that the version does not carry or that is not the leader's.
func (e *edit) endpoint(endpoint *raft.NodeEndpoint, leaderID int32, carried bool) {
	if !carried || leaderID < 0 || endpoint.NodeID != leaderID {
		set(e, endpoint, noEndpoint)
	}
	e.text(endpoint.Host)
}

// listeners puts a list of listeners into its canonical form.
func (e *edit) listeners(list *[]voters.Endpoint) {
	trim(e, list)
	for i := range *list {
		e.text((*list)[i].Name)
		e.text((*list)[i].Host)
	}
}

// partitions puts a list of other partitions into its canonical form: there is one only with a wrong shape.
func (e *edit) partitions(list *[]raft.TopicPartition, wrongShape bool) {
	if !wrongShape || len(*list) == 1 && isMetadata((*list)[0].Topic, (*list)[0].Partition) {
		drop(e, list)
	}
	trim(e, list)
	for i := range *list {
		e.text((*list)[i].Topic)
	}
}
