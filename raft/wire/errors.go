package wire

import "errors"

// Sentinels that callers match with errors.Is.
var (
	// ErrUnsupportedVersion: no version of the RPC, this version, or a field that says something and that this version
	// cannot carry. The sender sees it as UNSUPPORTED_VERSION.
	ErrUnsupportedVersion = errors.New("wire: unsupported version")
	// ErrMalformed: bytes that are no message of that kind and version, or a text that is too long to be written. Kafka
	// closes the connection on such bytes.
	ErrMalformed = errors.New("wire: malformed message")
	// ErrUnknownKind: a message that is none of raft's.
	ErrUnknownKind = errors.New("wire: unknown kind of message")
)
