package dump

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

const (
	pieceSize = 256 << 10
	// maxText bounds what is read of a file that has a few lines when it is whole, in bytes.
	maxText = 1 << 20
)

var errShrunk = errors.New("the file became shorter while it was read")

// source reads a file in pieces.
type source struct {
	file *os.File
	size int64
	buf  []byte
	at   int64 // position of buf in the file
}

func (s *source) open(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	s.file, s.size, s.at, s.buf = file, info.Size(), 0, s.buf[:0]
	return nil
}

func (s *source) close() { _ = s.file.Close() } // it was only read

// window returns n bytes at a position, which the file has. They are valid until the next call.
func (s *source) window(position, n int64) ([]byte, error) {
	from := position - s.at
	if from < 0 || from+n > int64(len(s.buf)) {
		want := min(max(n, pieceSize), s.size-position)
		s.buf = slices.Grow(s.buf[:0], int(want))[:want]
		s.at, from = position, 0
		if _, err := s.file.ReadAt(s.buf, position); err != nil {
			s.buf = s.buf[:0]
			if errors.Is(err, io.EOF) {
				err = errShrunk
			}
			return nil, fmt.Errorf("at %d: %w", position, err)
		}
	}
	return s.buf[from : from+n], nil
}

// reader reads the whole file from its beginning.
func (s *source) reader() io.Reader { return io.NewSectionReader(s.file, 0, s.size) }

// content returns a small file whole. ok is false when it is larger than any such file.
func (s *source) content() (content []byte, ok bool, err error) {
	if s.size > maxText {
		return nil, false, nil
	}
	content, err = s.window(0, s.size)
	return content, true, err
}
