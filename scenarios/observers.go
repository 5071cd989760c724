package scenarios

import (
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/raft"
)

// The observers copy the events of the products into observations, which live as long as the run.
type (
	raftObserver    node
	controlObserver node
	loaderObserver  node
	responder       node
)

func (o *raftObserver) Observe(e *raft.Event) {
	p := o.c.memory.raft.next()
	to := &p.E // field by field: who copies at once what was written in parts just now waits
	to.Kind, to.Epoch, to.Role, to.Leader = e.Kind, e.Epoch, e.Role, e.Leader
	to.Offset, to.Other, to.Flag = e.Offset, e.Other, e.Flag
	to.Peer = e.Peer
	o.env.Observe(p)
}

func (o *controlObserver) Observe(e *controller.Event) {
	p := o.c.memory.control.next()
	p.E = *e
	o.env.Observe(p)
}

func (o *loaderObserver) Observe(e *loader.Event) {
	p := o.c.memory.loads.next()
	p.E = *e
	if e.Kind != loader.ImagePublished { // what others are compared with is kept, for the sentence about a difference
		p.E.Image = nil
	}
	o.env.Observe(p)
	if e.Kind == loader.DirectoryFailed && o.member != nil {
		o.member.directoryFailed(e.Index)
	}
}

// Done is controller.Responder: the answer to an operation goes to the workload that asked. The checkers take it from here
// and not from the controller's events.
func (r *responder) Done(opID int64, result *controller.Result) {
	p := r.c.memory.answers.next()
	p.OpID, p.Offset, p.Result, r.told = opID, result.Offset, *result, opID
	r.env.Observe(p)
	if opID&memberOps != 0 {
		r.env.Post(laneRequests, &memberDone{op: opID, code: result.Code, reply: result.Broker})
		return
	}
	if r.c.machine(r.h.cluster) != nil {
		r.env.Post(laneRequests, &clientDone{op: opID, result: *result})
		return
	}
	r.c.answered(opID, result)
}
