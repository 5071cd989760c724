package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/record"
)

// Batch is one committed batch.
type Batch struct {
	BaseOffset, LastOffset int64
	Epoch                  int32
	AppendTimestampMs      int64
	Control                bool
	Bytes                  []byte // whole RecordBatch, immutable
}

// LeaderAndEpoch says who leads which epoch. LeaderID -1: none known.
type LeaderAndEpoch struct {
	LeaderID int32
	Epoch    int32
}

// Listener is a state machine that follows the committed log (kraft-protocol 3.10). Each call becomes a post to the
// lane of the component that registered; the replica never waits for it.
type Listener interface {
	// HandleCommit delivers committed batches, contiguous and in order, the first one after everything delivered
	// before. No further batches come until ReleaseReader.
	HandleCommit(batches []Batch)
	// HandleLoadBootstrap delivers the content of 0-0.checkpoint, before any batch and at most once (AUG26, KAFKA-16535:
	// a listener that has read nothing is told from one whose checkpoint is loaded and whose log is empty). It is not
	// released.
	HandleLoadBootstrap(snapshot []byte)
	// HandleLeaderChange tells the leader of an epoch, at most once per epoch and knowledge of a leader. Own leadership
	// is told only after everything up to the start of the epoch was delivered and released (KAFKA-15345).
	HandleLeaderChange(l LeaderAndEpoch)
}

// SnapshotListener is a Listener that can start from a snapshot other than the bootstrap checkpoint. A listener that
// needs one and does not implement this stops the replica with ErrListener.
type SnapshotListener interface {
	// HandleLoadSnapshot delivers a whole snapshot, which replaces everything delivered before. It is not released.
	HandleLoadSnapshot(id OffsetAndEpoch, snapshot []byte)
}

// listener is a registered Listener and how far it got.
type listener struct {
	target     Listener
	nextOffset int64 // released up to here, exclusive; -1: nothing loaded yet
	readerEnd  int64 // end of the batches that it holds, -1: none
	announced  LeaderAndEpoch
	leaving    bool // Unregister was called, the raft lane has yet to see it
	gone       bool // it gets nothing more; its id is not given again
}

// Register adds a listener and returns its id, which counts up from 0. It is told the leader and the committed records
// at the raft lane's next turn.
func (r *Replica) Register(l Listener) (id int32) {
	r.listeners = append(r.listeners, &listener{
		target: l, nextOffset: -1, readerEnd: -1, announced: LeaderAndEpoch{LeaderID: -1, Epoch: 0},
	})
	r.wake()
	return int32(len(r.listeners) - 1)
}

// Unregister takes a listener out at the raft lane's next turn (kraft-protocol 8): until then it may still be called, afterwards never
// again, and it owes no ReleaseReader for what it holds. The others go on as before. A second call is ignored. Registered anew, the
// same Listener has another id and begins at the beginning, as any new one does.
func (r *Replica) Unregister(id int32) {
	r.listeners[id].leaving, r.someLeave = true, true
	r.wake()
}

// leave takes out the listeners that were unregistered.
func (r *Replica) leave() {
	r.someLeave = false
	for _, l := range r.listeners {
		if l.leaving && !l.gone {
			*l = listener{nextOffset: -1, readerEnd: -1, leaving: true, gone: true}
		}
	}
}

// ReleaseReader says that the listener is done with the batches it was given last. A call without any is ignored. The raft
// lane is woken when there is something more for this listener; Kafka wakes it in any case, and it finds nothing to do then.
func (r *Replica) ReleaseReader(id int32) {
	l := r.listeners[id]
	if l.readerEnd < 0 {
		return
	}
	l.nextOffset = l.readerEnd
	l.readerEnd = -1
	if r.role != nil && l.nextOffset >= r.base().highWatermark && !r.announces(l) {
		return
	}
	r.wake()
}

// pollListeners brings every listener forward as far as it can go now.
func (r *Replica) pollListeners() error {
	if r.someLeave {
		r.leave()
	}
	if err := r.updateListeners(); err != nil {
		return err
	}
	r.announceLeader()
	return nil
}

// updateListeners delivers what is committed to the listeners that are free.
func (r *Replica) updateListeners() error {
	highWatermark := r.base().highWatermark
	if highWatermark == unknown {
		return nil
	}
	r.logHighWatermark = max(r.logHighWatermark, highWatermark)
	for id, l := range r.listeners {
		if l.gone || l.readerEnd >= 0 || l.nextOffset >= highWatermark {
			continue
		}
		if l.nextOffset < 0 || l.nextOffset < r.log.StartOffset() {
			if err := r.deliverSnapshot(int32(id), l); err != nil {
				return err
			}
		}
		if l.nextOffset < highWatermark {
			if err := r.deliverBatches(int32(id), l, highWatermark); err != nil {
				return err
			}
		}
	}
	return nil
}

// deliverSnapshot gives l the latest snapshot, or lets it begin at offset 0 when there is none.
func (r *Replica) deliverSnapshot(id int32, l *listener) error {
	snapshot, found := r.log.LatestSnapshot()
	if !found {
		if start := r.log.StartOffset(); start > 0 {
			return fmt.Errorf("%w: offset %d is below the log start %d and there is no snapshot",
				ErrListener, l.nextOffset, start)
		}
		l.nextOffset = 0
		return nil
	}
	content, err := r.readSnapshot(snapshot)
	if err != nil {
		return err
	}
	if snapshot == (OffsetAndEpoch{}) {
		l.target.HandleLoadBootstrap(content)
	} else {
		target, ok := l.target.(SnapshotListener)
		if !ok {
			return fmt.Errorf("%w: it cannot load snapshot %d-%d", ErrListener, snapshot.Offset, snapshot.Epoch)
		}
		target.HandleLoadSnapshot(snapshot, content)
	}
	l.nextOffset = snapshot.Offset
	r.emit(SnapshotDelivered, snapshot.Offset, int64(id), &NoReplica, false)
	return nil
}

// deliverBatches gives l the committed batches from its next offset on: those that the leader still has in memory, or
// what one read of the log returns.
func (r *Replica) deliverBatches(id int32, l *listener, highWatermark int64) error {
	batches := r.batchesInMemory(l.nextOffset, highWatermark)
	if batches == nil {
		var err error
		if batches, err = r.batchesOnDisk(l.nextOffset, highWatermark); err != nil {
			return err
		}
	}
	if len(batches) == 0 {
		return nil
	}
	end := batches[len(batches)-1].LastOffset + 1
	if end <= l.nextOffset { // a base offset that decayed: no checksum covers it, and to go on would be to go round for ever
		return fmt.Errorf("raft: batches up to %d where %d was to come: %w", end, l.nextOffset, record.ErrCorrupt)
	}
	l.readerEnd = end
	r.emit(BatchDelivered, l.readerEnd, int64(id), &NoReplica, false)
	l.target.HandleCommit(batches)
	return nil
}

// batchesInMemory returns the leader's own batches from offset from on, as far as they are committed.
func (r *Replica) batchesInMemory(from, highWatermark int64) []Batch {
	l, ok := r.role.(*leader)
	if !ok {
		return nil
	}
	for i := range l.uncommitted {
		if l.uncommitted[i].BaseOffset != from {
			continue
		}
		n := i
		for n < len(l.uncommitted) && l.uncommitted[n].LastOffset < highWatermark {
			n++
		}
		return append(r.pool.batches.next(n-i), l.uncommitted[i:n]...)
	}
	return nil
}

// batchesOnDisk reads committed batches. A damaged one is an error: nothing is left to go on with but a restart, whose recovery cuts
// the log there and fetches it again.
func (r *Replica) batchesOnDisk(from, highWatermark int64) ([]Batch, error) {
	bytes, err := r.log.ReadUpTo(from, highWatermark, r.cfg.ListenerMaxBytes)
	if err != nil {
		return nil, err
	}
	n := 0
	for rest := bytes; ; n++ {
		batch, next, err := record.NextBatch(rest)
		if err != nil {
			return nil, err
		}
		if len(batch) == 0 {
			break
		}
		rest = next
	}
	batches := r.pool.batches.next(n)
	for rest := bytes; len(batches) < n; {
		batch, next, err := record.NextBatch(rest)
		if err != nil {
			return nil, err
		}
		if err := batch.Verify(); err != nil { // what decays on the disk reaches no state machine (KAFKA-14104)
			return nil, fmt.Errorf("raft: committed batch at %d: %w", batch.BaseOffset(), err)
		}
		batches = batches[:len(batches)+1]
		batches[len(batches)-1].set(batch)
		rest = next
	}
	return batches, nil
}

// set makes d the description of a whole RecordBatch, in place.
func (d *Batch) set(bytes []byte) {
	b := record.Batch(bytes)
	d.BaseOffset, d.LastOffset, d.Epoch = b.BaseOffset(), b.LastOffset(), b.LeaderEpoch()
	d.AppendTimestampMs, d.Control, d.Bytes = b.MaxTimestampMs(), b.IsControl(), bytes
}

// announceLeader tells the listeners who leads, where that is news to them.
func (r *Replica) announceLeader() {
	for id, l := range r.listeners {
		if !r.announces(l) {
			continue
		}
		l.announced = r.LeaderAndEpoch()
		r.emit(LeaderChangeAnnounced, 0, int64(id), &NoReplica, false)
		l.target.HandleLeaderChange(l.announced)
	}
}

// announces reports whether a listener is to be told who leads now. A resigned leader says nothing (KAFKA-17333); an active
// one waits for the listener to release everything up to the record that began the epoch.
func (r *Replica) announces(l *listener) bool {
	b := r.base()
	if l.gone || b.epoch == l.announced.Epoch && (b.leaderID < 0 || l.announced.LeaderID >= 0) || b.epoch < l.announced.Epoch {
		return false
	}
	return r.mayAnnounce(l)
}

// mayAnnounce is announces for a listener to which the leader is news.
func (r *Replica) mayAnnounce(l *listener) bool {
	switch role := r.role.(type) {
	case *resigned:
		return false
	case *leader:
		return l.nextOffset > role.epochStartOffset
	}
	return true
}
