//nodet:room

package register

import (
	"encoding/binary"
	"fmt"

	"github.com/kraftsim/kraftsim/sim"
)

// Describe gives a story its words: that n1 acknowledges a value is a claim, which a story tells when the violation names n1.
func (m message) Describe(d *sim.Description) {
	if m.kind == Stored {
		d.Weight = sim.Turning
		d.Claim = sim.Claim{Topic: "acknowledged", Clause: fmt.Sprintf("acknowledges %d", m.value)}
	}
}

// DescribeState is what a replica knows, for pages and for walking through a run.
func (r *replica) DescribeState() []sim.Facet {
	return []sim.Facet{{Name: "value", Value: fmt.Sprint(r.value)}, {Name: "acknowledged", Value: fmt.Sprint(r.stored)}}
}

// decodeFile says what a file of a disk holds: of the register its value. Stories tell what a power loss took in these words.
func decodeFile(path string, data []byte) []sim.Decoded {
	if path != file || len(data) < 8 {
		return nil
	}
	return []sim.Decoded{{Offset: -1, End: 8, Text: fmt.Sprintf("value %d", int64(binary.BigEndian.Uint64(data)))}}
}
