package record

import "errors"

// Sentinels that callers match with errors.Is. Every error of this package wraps exactly one of them.
var (
	// ErrTruncated: the bytes end inside a value.
	ErrTruncated = errors.New("record: bytes end inside a value")
	// ErrMalformed: a value that no writer produces (varint too long, negative length, bad text).
	ErrMalformed = errors.New("record: malformed value")
	// ErrCorrupt: a batch whose size, magic or checksum is wrong.
	ErrCorrupt = errors.New("record: corrupt batch")
	// ErrInvalidRecord: a record inside a sound batch that breaks the rules of the metadata log (formats.md 3).
	ErrInvalidRecord = errors.New("record: invalid record")
	// ErrUnsupported: a compression type that no reader knows.
	ErrUnsupported = errors.New("record: unsupported")
)
