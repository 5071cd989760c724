package room

import (
	"encoding/binary"
	"hash/fnv"
	"math/bits"
	"strconv"

	"github.com/kraftsim/kraftsim/sim/digest"
)

type hashed struct {
	count  int    // want `\[integer\] field of type int in hashed, which has AppendState`
	sizes  []uint // want `\[integer\] field of type \[\]uint in hashed, which has AppendState`
	epoch  int32
	offset int64
	inner  inner         // want `\[integer\] field of type room.inner in hashed`
	byID   map[int32]int // want `\[integer\] field of type map\[int32\]int in hashed`
	setup  *inner        // what it points to is rarely state
	itself encoded       // the fields of encoded are its own finding
}

type inner struct{ at struct{ position int } }

type encoded struct{ n int } // want `\[integer\] field of type int in encoded, which has AppendTo`

func (encoded) AppendTo(buf []byte) []byte { return buf }

func (h *hashed) AppendState(buf []byte, protocolView bool) []byte {
	buf = binary.BigEndian.AppendUint32(buf, uint32(h.count)) // want `\[integer\] uint32\(h.count\) converts an int`
	buf = binary.AppendVarint(buf, int64(h.count))            // want `\[integer\] int64\(h.count\) converts an int`
	buf = appendInt64(buf, int64(h.count))                    // want `\[integer\] int64\(h.count\) converts an int`
	buf = appendInt64(buf, h.offset)
	buf = appendInt64(buf, int64(len(h.sizes)))
	buf = appendInt64(buf, int64((len(h.sizes)-3)*2))
	buf = appendInt64(buf, int64(len(h.sizes)-h.count)) // want `\[integer\] int64\(len\(h.sizes\) - h.count\) converts an int`
	for i := range h.sizes {
		buf = appendInt64(buf, int64(i))
	}
	return binary.BigEndian.AppendUint32(buf, uint32(h.epoch))
}

func appendInt64(buf []byte, v int64) []byte { return binary.BigEndian.AppendUint64(buf, uint64(v)) }

// mixer belongs to a hasher: it has Sum64.
type mixer struct{ state uint64 }

func (m *mixer) Sum64() uint64        { return m.state }
func (m *mixer) MixUint64(v uint64)   { m.state ^= v }
func hashUint(m *mixer, v uint64)     { m.MixUint64(v) }
func writeNothing(v uint64) (n int64) { return int64(v) }

func mixes(n int, u uint, m *mixer) {
	m.MixUint64(uint64(n))             // want `\[integer\] uint64\(n\) converts an int`
	hashUint(m, uint64(u))             // want `\[integer\] uint64\(u\) converts an uint`
	m.MixUint64(uint64(cap([]byte{}))) // want `\[integer\] uint64\(cap`
	wide := uint64(n)
	m.MixUint64(wide) // want `\[integer\] uint64\(n\) converts an int`
	length := uint64(len("abc"))
	m.MixUint64(length)
	_ = digest.Word(1, uint64(n)) // want `\[integer\] uint64\(n\) converts an int`
	_ = digest.Word(1, uint64(len("abc")))
	m.MixUint64(uint64(7))
	_ = writeNothing(uint64(n)) // neither bytes nor a hasher
	_, _ = fnv.New64a().Write([]byte(strconv.Itoa(n)))
}

// unhashed has no such method, so its indexes may be what they are.
type unhashed struct{ next int }

func architectures(u *unhashed) int {
	_ = binary.NativeEndian.Uint16([]byte{1, 2})    // want `\[integer\] binary.NativeEndian: `
	return u.next + bits.UintSize + strconv.IntSize // want `\[integer\] bits.UintSize: ` `\[integer\] strconv.IntSize: `
}

func lengths(buf []byte, names []string, n int) []byte {
	size := 0
	for _, name := range names {
		size += len(name)
	}
	taken := min(size, copy(buf, buf))
	buf = appendInt64(buf, int64(size))
	buf = appendInt64(buf, int64(taken))
	buf = appendInt64(buf, int64(n)) // want `\[integer\] int64\(n\) converts an int`

	mixed := size
	if n > 0 {
		mixed = n
	}
	buf = appendInt64(buf, int64(mixed)) // want `\[integer\] int64\(mixed\) converts an int`
	parsed, _ := strconv.Atoi("1")
	return appendInt64(buf, int64(parsed)) // want `\[integer\] int64\(parsed\) converts an int`
}
