package invariants

// view is the replayed state that the cluster id invariants speak of: what a controller or loader knows after a prefix of
// the log. It is computed once per distinct batch, on top of the view after the batch before it.
type view struct {
	clusterID    int32 // text, 0: none
	savedID      int32
	voters       int32   // newest voter set in the log, noSet: none
	roster       int32   // the same with all that its record says, noSet: none
	votersBatch  batchID // that holds it, noBatch: none
	votersOffset int64   // of its record, -1: none
	version      int16   // metadata.version, 0: none
	savedVersion int16
	kraftVersion int16
	bootstraps   int16 // bootstrap groups that ended and were not aborted
	open         bool  // inside a transaction
	bootstrap    bool  // whose name is that of the bootstrap
}

// emptyView is the state before the first record.
var emptyView = view{voters: noSet, roster: noSet, votersBatch: noBatch, votersOffset: -1}

// apply replays one fact.
func (v *view) apply(f *fact) {
	switch f.kind {
	case factVersion:
		if v.version == 0 && !v.open {
			v.bootstraps++ // a bootstrap without transactions: one atomic batch (metadata-bootstrap 3.3)
		}
		v.version = int16(f.number)
	case factClusterID:
		v.clusterID = f.number
	case factBegin:
		v.open, v.bootstrap = true, f.number == 1
		v.savedVersion, v.savedID = v.version, v.clusterID
	case factEnd:
		if v.open && v.bootstrap {
			v.bootstraps++
		}
		v.open, v.bootstrap = false, false
	case factAbort:
		if v.open {
			v.version, v.clusterID = v.savedVersion, v.savedID
		}
		v.open, v.bootstrap = false, false
	case factKRaftVersion:
		v.kraftVersion = int16(f.number)
	case factVoters:
		v.voters, v.roster, v.votersOffset = f.number, f.set, f.offset
	}
}
