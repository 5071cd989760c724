package raftlog

// Log is a segmented metadata log.
type Log struct{}

func Open(files Files, dir string, cfg Config) (*Log, error)                 { panic("raftlog: soon") }
func (l *Log) StartOffset() int64                                            { panic("raftlog: soon") }
func (l *Log) EndOffset() int64                                              { panic("raftlog: soon") }
func (l *Log) FlushedOffset() int64                                          { panic("raftlog: soon") }
func (l *Log) LastEpoch() int32                                              { panic("raftlog: soon") }
func (l *Log) AssignEpoch(epoch int32) error                                 { panic("raftlog: soon") }
func (l *Log) AppendLeader(batch []byte) error                               { panic("raftlog: soon") }
func (l *Log) AppendFollower(records []byte, epoch int32) (int32, error)     { panic("raftlog: soon") }
func (l *Log) Flush() error                                                  { panic("raftlog: soon") }
func (l *Log) Read(from int64, maxBytes int32) ([]byte, error)               { panic("raftlog: soon") }
func (l *Log) ReadUpTo(from, to int64, maxBytes int32) ([]byte, error)       { panic("raftlog: soon") }
func (l *Log) EndOffsetForEpoch(epoch int32) OffsetAndEpoch                  { panic("raftlog: soon") }
func (l *Log) Validate(offset int64, epoch int32) (Validity, OffsetAndEpoch) { panic("raftlog: soon") }
func (l *Log) TruncateToEndOffset(o OffsetAndEpoch, hw int64) (cut int64, err error) {
	panic("raftlog: soon")
}
func (l *Log) LatestSnapshot() (OffsetAndEpoch, bool)         { panic("raftlog: soon") }
func (l *Log) EarliestSnapshot() (OffsetAndEpoch, bool)       { panic("raftlog: soon") }
func (l *Log) ReadSnapshot(id OffsetAndEpoch) ([]byte, error) { panic("raftlog: soon") }
func (l *Log) Recovered() Recovery                            { panic("raftlog: soon") }
func (l *Log) Close() error                                   { panic("raftlog: soon") }
