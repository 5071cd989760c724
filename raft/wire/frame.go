package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// MaxFrameBytes is the largest frame that is read: Kafka's socket.request.max.bytes.
const MaxFrameBytes int32 = 100 << 20

// RequestHeader is what stands before the body of a request (formats 2).
type RequestHeader struct {
	APIKey        int16
	Version       int16
	Correlation   int32
	ClientID      string
	ClientIDKnown bool // false: null
	// UnknownTags are tagged fields of the header, of which Kafka knows none; header version 2 only.
	UnknownTags []record.TaggedField
}

// requestHeaderVersion is 2 for flexible versions, else 1. It is defined for versions that do not exist too.
func requestHeaderVersion(apiKey, version int16) int16 {
	if isFlexible(apiKey, version) {
		return 2
	}
	return 1
}

// responseHeaderVersion is 1 for flexible versions, else 0; for ApiVersions always 0, so that a client can read the answer
// of a server that does not know the client's version (KIP-511).
func responseHeaderVersion(apiKey, version int16) int16 {
	if apiKey != APIVersions && isFlexible(apiKey, version) {
		return 1
	}
	return 0
}

// appendTo appends the header in a header version, 0 to 2.
func (h *RequestHeader) appendTo(dst []byte, headerVersion int16) []byte {
	dst = record.AppendInt16(record.AppendInt16(dst, h.APIKey), h.Version)
	dst = record.AppendInt32(dst, h.Correlation)
	if headerVersion >= 1 { // the int16 form, in header version 2 too
		dst = record.AppendNullableString(dst, h.ClientID, h.ClientIDKnown)
	}
	if headerVersion >= 2 {
		dst = record.AppendUnknownTags(dst, h.UnknownTags)
	}
	return dst
}

// readFields reads what every header version has.
func (h *RequestHeader) readFields(r *record.Reader) {
	h.APIKey, h.Version, h.Correlation = r.Int16(), r.Int16(), r.Int32()
}

// readRest reads what a header version adds.
func (h *RequestHeader) readRest(r *record.Reader, headerVersion int16) {
	if headerVersion >= 1 {
		h.ClientID, h.ClientIDKnown = r.NullableString()
	}
	if headerVersion >= 2 {
		h.UnknownTags = r.UnknownTags()
	}
}

// AppendRequest appends a whole frame: int32 length, header, body. The correlation id is the message's. Errors are those
// of Normalize, and ErrMalformed for a frame that no server would read; the buffer is then as it was.
func AppendRequest(dst []byte, m raft.Message, version int16, clientID string) ([]byte, error) {
	apiKey, _ := apiKeyOf(m.Kind())
	h := RequestHeader{
		APIKey: apiKey, Version: version, Correlation: Correlation(m), ClientID: clientID, ClientIDKnown: true,
	}
	start := len(dst)
	out := h.appendTo(append(dst, 0, 0, 0, 0), requestHeaderVersion(apiKey, version))
	return closeFrame(out, start, m, version)
}

// AppendResponse appends a whole frame: int32 length, header, body. The version is that of the request, except that an
// ApiVersions request of an unknown version is answered in version 0. Errors are those of AppendRequest.
func AppendResponse(dst []byte, m raft.Message, version int16) ([]byte, error) {
	apiKey, _ := apiKeyOf(m.Kind())
	start := len(dst)
	out := record.AppendInt32(append(dst, 0, 0, 0, 0), Correlation(m))
	if responseHeaderVersion(apiKey, version) >= 1 {
		out = record.AppendUnknownTags(out, nil)
	}
	return closeFrame(out, start, m, version)
}

// closeFrame appends the body to a frame that begins at start and sets its length.
func closeFrame(out []byte, start int, m raft.Message, version int16) ([]byte, error) {
	out, err := AppendBody(out, m, version)
	if err != nil {
		return out[:start], err
	}
	size := int64(len(out)) - int64(start) - 4
	if size > int64(MaxFrameBytes) {
		return out[:start], fmt.Errorf("%w: a frame of %d bytes", ErrMalformed, size)
	}
	binary.BigEndian.PutUint32(out[start:], uint32(size))
	return out, nil
}

// NextFrame splits the first frame, without its length, from a stream of bytes. ok is false while the stream does not
// hold all of it; ErrMalformed tells of a length that cannot be.
func NextFrame(stream []byte) (frame, rest []byte, ok bool, err error) {
	if len(stream) < 4 {
		return nil, stream, false, nil
	}
	size := int32(binary.BigEndian.Uint32(stream))
	if size < 0 || size > MaxFrameBytes {
		return nil, stream, false, fmt.Errorf("%w: a frame of %d bytes", ErrMalformed, size)
	}
	if int64(len(stream))-4 < int64(size) {
		return nil, stream, false, nil
	}
	return stream[4 : 4+size : 4+size], stream[4+size:], true, nil
}

// DecodeRequest reads a frame, without its length, as a request. After ErrUnsupportedVersion the header is valid: an
// ApiVersions request is then answered with UNSUPPORTED_VERSION in version 0, any other closes the connection. After
// other errors nothing is.
func DecodeRequest(frame []byte) (RequestHeader, raft.Message, error) {
	var h RequestHeader
	r := record.NewReader(frame)
	h.readFields(&r)
	if r.Err() == nil && newest(h.APIKey) < 0 {
		return h, nil, fmt.Errorf("%w: RPC %d", ErrUnknownKind, h.APIKey)
	}
	h.readRest(&r, requestHeaderVersion(h.APIKey, h.Version))
	if err := r.Err(); err != nil {
		return RequestHeader{}, nil, fmt.Errorf("%w: request header: %w", ErrMalformed, err)
	}
	m, err := Decode(uint32(h.APIKey)<<1, h.Version, frame[r.Offset():])
	if err != nil {
		return h, nil, err
	}
	setCorrelation(m, h.Correlation)
	return h, m, nil
}

// DecodeResponse reads a frame, without its length, as the response to a request of that API key and version. An answer to
// ApiVersions that says UNSUPPORTED_VERSION is read as version 0, in which it was written.
func DecodeResponse(apiKey, version int16, frame []byte) (raft.Message, error) {
	if newest(apiKey) < 0 {
		return nil, fmt.Errorf("%w: RPC %d", ErrUnknownKind, apiKey)
	}
	r := record.NewReader(frame)
	correlation := r.Int32()
	if responseHeaderVersion(apiKey, version) >= 1 {
		r.UnknownTags()
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("%w: response header: %w", ErrMalformed, err)
	}
	body := frame[r.Offset():]
	if apiKey == APIVersions && len(body) >= 2 &&
		raft.ErrorCode(int16(binary.BigEndian.Uint16(body))) == raft.UnsupportedVersion {
		version = 0
	}
	m, err := Decode(uint32(apiKey)<<1|1, version, body)
	if err != nil {
		return nil, err
	}
	setCorrelation(m, correlation)
	return m, nil
}
