package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/raft/record"
)

// maxAttempts bounds the search for a fresh id; a chooser that needs more is broken.
const maxAttempts = 64

// NewDirectoryID draws an id for a directory: random, not reserved, its text not beginning with "-" (formats 1.1),
// and not among those taken. The start-up of a node uses it too, for a directory that has none yet.
func NewDirectoryID(chooser Chooser, dir string, taken []record.UUID) (record.UUID, error) {
	for attempt := range uint64(maxAttempts) {
		var words [4]uint64
		for i := range words {
			key := nameHash(dir) + attempt*uint64(len(words)) + uint64(i)
			words[i] = uint64(chooser.Choose(SiteDirectoryID, key, 1<<32))
		}
		id := record.UUIDFromHalves(words[0]<<32|words[1], words[2]<<32|words[3])
		if !id.IsReserved() && !strings.HasPrefix(id.String(), "-") && !slices.Contains(taken, id) {
			return id, nil
		}
	}
	return record.UUID{}, fmt.Errorf("format: no fresh directory id for %s in %d draws", dir, maxAttempts)
}
