package raftlog

// EndOffsetForEpoch returns the highest local epoch that is not above the one given, and where it ends
// (kraft-protocol 3.3). When the log cannot tell, it is the log end with the last epoch. An epoch that the log no longer
// has, because it lies before the first one, ends where the earliest snapshot stands, and then it is that snapshot's epoch.
func (l *Log) EndOffsetForEpoch(epoch int32) OffsetAndEpoch {
	o, ok := l.epochs.endOffset(epoch, l.end)
	if !ok {
		return OffsetAndEpoch{Offset: l.end, Epoch: l.LastEpoch()}
	}
	if earliest, found := l.EarliestSnapshot(); found && o == (OffsetAndEpoch{Offset: earliest.Offset, Epoch: epoch}) {
		return earliest
	}
	return o
}

// Validate judges a fetch position: epoch is the last fetched epoch of the fetcher, offset its log end
// (kraft-protocol 3.3). With Diverging comes the end of the epoch to truncate to, with Snapshot the id of the latest
// snapshot.
func (l *Log) Validate(offset int64, epoch int32) (Validity, OffsetAndEpoch) {
	if l.start == 0 && offset == 0 {
		return Valid, OffsetAndEpoch{}
	}
	if earliest, ok := l.EarliestSnapshot(); ok {
		if offset < l.start || (offset == l.start && epoch != earliest.Epoch) || epoch < earliest.Epoch {
			latest, _ := l.LatestSnapshot()
			return Snapshot, latest
		}
	}
	if end := l.EndOffsetForEpoch(epoch); end.Epoch != epoch || end.Offset < offset {
		return Diverging, end
	}
	return Valid, OffsetAndEpoch{}
}
