package invariants

import (
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// configWrite is a committed value of a default configuration of brokers.
type configWrite struct {
	name, value string
	offset      int64
}

// epochStart is where the batches of an epoch begin among those that were read.
type epochStart struct {
	epoch int32
	start int64
}

// take reads the configurations of a committed batch, each offset once, whoever is first.
func (a *Answers) take(b *raft.Batch) {
	if a.blind || a.older(b) {
		return
	}
	a.rewind(b)
	if b.LastOffset < a.next {
		return
	}
	if b.BaseOffset != a.next {
		a.blind = true
		return
	}
	if n := len(a.epochs); n == 0 || a.epochs[n-1].epoch < b.Epoch {
		a.epochs = append(a.epochs, epochStart{b.Epoch, b.BaseOffset})
	}
	if a.next = b.LastOffset + 1; b.Control {
		return
	}
	for a.it.Reset(record.Batch(b.Bytes)); a.it.Next(&a.raw); {
		if len(a.raw.Value) < 2 || int16(a.raw.Value[1]) != records.ConfigRecordKey { // the key in the frame is one byte for all there are
			continue
		}
		r, _, err := records.Decode(a.raw.Value)
		if c, ok := r.(*records.ConfigRecord); err == nil && ok && c.ResourceType == image.BrokerResource && c.ResourceName == "" && c.Value != nil {
			a.writes = append(a.writes, configWrite{c.Name, *c.Value, a.raw.Offset})
		}
	}
}

// older tells whether a batch is left over from before its offset, or the one before that, was written again.
func (a *Answers) older(b *raft.Batch) bool {
	n := len(a.epochs)
	return b.BaseOffset >= a.next && n > 0 && b.Epoch < a.epochs[n-1].epoch
}

// rewind forgets what a sole voter lost that had committed it before it flushed (kraft-protocol 3.6): a batch of a newer epoch stands in its
// place. Any other committed batch that is replaced is what leader-completeness is about.
func (a *Answers) rewind(b *raft.Batch) {
	n := len(a.epochs)
	for n > 0 && a.epochs[n-1].start > b.BaseOffset {
		n--
	}
	if b.BaseOffset >= a.next || n == 0 || b.Epoch <= a.epochs[n-1].epoch {
		return
	}
	a.epochs, a.next = a.epochs[:n], b.BaseOffset
	a.writes = slices.DeleteFunc(a.writes, func(w configWrite) bool { return w.offset >= b.BaseOffset })
}

// judgeRead wants the value that was in force at the last stable offset of whoever answers (metadata-bootstrap 7.1).
func (a *Answers) judgeRead(s *answering, p *pendingOperation, r *controller.Result) (evidence, why string) {
	if a.blind {
		return "", ""
	}
	value, found := "", false
	for i := range a.writes {
		if w := &a.writes[i]; w.name == p.op.Name && w.offset <= s.stable {
			value, found = w.value, true
		}
	}
	if r.Value != value || r.Found != found {
		return "read", fmt.Sprintf("%q, there %t; at the stable offset %d it is %q, there %t", r.Value, r.Found, s.stable, value, found)
	}
	return "", ""
}
