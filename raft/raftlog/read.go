package raftlog

import (
	"errors"
	"fmt"
	"math"
)

// Read returns whole batches from the one that holds offset from on, at most maxBytes of them, but one at least; nil
// at the log end. A read does not go beyond a segment. Offsets outside of the log give ErrOffsetOutOfRange. The bytes
// are not verified: the fetcher does that, or the decoder. They are the caller's and must be treated as immutable.
func (l *Log) Read(from int64, maxBytes int32) ([]byte, error) {
	return l.ReadUpTo(from, math.MaxInt64, maxBytes)
}

// ReadUpTo is Read over the batches that lie wholly below offset to; nil when there are none.
func (l *Log) ReadUpTo(from, to int64, maxBytes int32) ([]byte, error) {
	if from < l.start || from > l.end {
		return nil, fmt.Errorf("%w: %d is not in [%d, %d]", ErrOffsetOutOfRange, from, l.start, l.end)
	}
	i := l.find(from)
	if from == l.end || i == int32(len(l.index)) || l.index[i].reach >= to {
		return nil, nil
	}
	first := &l.index[i]
	size := int64(first.size)
	for i++; i < int32(len(l.index)); i++ {
		e := &l.index[i]
		if e.segment != first.segment || e.reach >= to || size+int64(e.size) > int64(maxBytes) {
			break
		}
		size += int64(e.size)
	}
	s := l.segmentOf(first)
	buf := l.alloc(size)
	if err := readFull(l.files, s.fd, buf, first.position); err != nil {
		return nil, fmt.Errorf("raftlog: read segment %d at %d: %w", s.base, first.position, err)
	}
	return buf, nil
}

func (l *Log) alloc(n int64) []byte {
	if l.cfg.Alloc != nil {
		return l.cfg.Alloc(int(n))
	}
	return make([]byte, n)
}

// readFull fills p; less is an error.
func readFull(files Files, fd int32, p []byte, offset int64) error {
	n, err := files.ReadAt(fd, p, offset)
	if n == len(p) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%d of %d bytes", n, len(p))
	}
	return err
}

// readFile returns a whole file.
func readFile(files Files, name string, alloc func(int64) []byte) ([]byte, error) {
	fd, err := files.Open(name, false)
	if err != nil {
		return nil, err
	}
	buf, err := readAll(files, fd, alloc)
	return buf, errors.Join(err, files.Close(fd))
}

func readAll(files Files, fd int32, alloc func(int64) []byte) ([]byte, error) {
	size, err := files.Size(fd)
	if err != nil || size == 0 {
		return nil, err
	}
	buf := alloc(size)
	return buf, readFull(files, fd, buf, 0)
}
