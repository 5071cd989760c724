package raft

import (
	"fmt"

	"github.com/cockroachdb/datadriven"
)

// namedApp is a listener beside the script's own one: listener name=b. It releases what it is given at once.
type namedApp struct {
	s    *script
	name string
	id   int32
	held bool
}

func (a *namedApp) HandleCommit(batches []Batch) {
	for _, b := range batches {
		fmt.Fprintf(&a.s.out, "app %s: commit %d..%d epoch=%d\n", a.name, b.BaseOffset, b.LastOffset, b.Epoch)
	}
	a.held = true
}

func (a *namedApp) HandleLoadBootstrap(snapshot []byte) {
	fmt.Fprintf(&a.s.out, "app %s: load bootstrap checkpoint, %d bytes\n", a.name, len(snapshot))
}

func (a *namedApp) HandleLeaderChange(l LeaderAndEpoch) {
	fmt.Fprintf(&a.s.out, "app %s: leader %d epoch %d\n", a.name, l.LeaderID, l.Epoch)
}

// registerNamed registers a listener of that name, again if there was one.
func (s *script) registerNamed(name string) {
	for _, a := range s.apps {
		if a.name == name {
			a.id, a.held = s.replica.Register(a), false
			return
		}
	}
	a := &namedApp{s: s, name: name}
	a.id = s.replica.Register(a)
	s.apps = append(s.apps, a)
}

// releaseNamed releases what the named listeners hold and reports whether there was anything.
func (s *script) releaseNamed() (released bool) {
	for _, a := range s.apps {
		if a.held {
			a.held, released = false, true
			s.replica.ReleaseReader(a.id)
		}
	}
	return released
}

// cmdUnregister takes a listener out: unregister [name=b] [twice]; without a name the script's own one.
func (s *script) cmdUnregister(d *datadriven.TestData) error {
	id := s.appID
	for _, a := range s.apps {
		if a.name == arg(d, "name", "") {
			id = a.id
		}
	}
	s.replica.Unregister(id)
	if d.HasArg("twice") {
		s.replica.Unregister(id)
	}
	return s.pollUntilReleased()
}
