package raftlog

// Memory lends logs the memory of their indexes, for an owner that opens many logs one after the other, as a simulator does. The
// zero Memory is ready. Not safe for concurrent use.
type Memory struct {
	logs []*Log
	free [][]entry
}

// lend gives a log its index and notes who has it.
func (m *Memory) lend(l *Log) {
	if n := len(m.free); n > 0 {
		l.index, m.free = m.free[n-1], m.free[:n-1]
	}
	m.logs = append(m.logs, l)
}

// Reset takes everything back. None of the logs may be used any more.
func (m *Memory) Reset() {
	for _, l := range m.logs {
		if cap(l.index) > 0 {
			m.free = append(m.free, l.index[:0])
		}
		l.index = nil
	}
	clear(m.logs)
	m.logs = m.logs[:0]
}
