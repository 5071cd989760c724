package image

import (
	"cmp"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/records"
)

// QuotaEntity is the canonical form of what a client quota applies to: a set of (type, name) pairs, such as user "u" and
// client-id "c", in which a null name stands for the default of that type. It is comparable, and no two entities share one;
// Parts takes it apart.
type QuotaEntity string

// NewQuotaEntity returns the entity with these parts, in whatever order; of two parts with one type the later one counts.
func NewQuotaEntity(parts []records.EntityData) QuotaEntity {
	sorted := make([]records.EntityData, 0, len(parts))
	for at := range parts {
		p := &parts[at]
		same := func(q records.EntityData) bool { return q.EntityType == p.EntityType }
		if old := slices.IndexFunc(sorted, same); old >= 0 {
			sorted[old] = *p
		} else {
			sorted = append(sorted, *p)
		}
	}
	slices.SortStableFunc(sorted, func(a, b records.EntityData) int { return cmp.Compare(a.EntityType, b.EntityType) })
	var text []byte
	for at := range sorted {
		text = appendSized(text, sorted[at].EntityType)
		if sorted[at].EntityName == nil {
			text = append(text, 0)
			continue
		}
		text = appendSized(append(text, 1), *sorted[at].EntityName)
	}
	return QuotaEntity(text)
}

// Parts returns the pairs of the entity, ascending by type.
func (e QuotaEntity) Parts() []records.EntityData {
	var parts []records.EntityData
	for rest := string(e); rest != ""; {
		var p records.EntityData
		p.EntityType, rest = cutSized(rest)
		named := rest[0] == 1
		rest = rest[1:]
		if named {
			var name string
			name, rest = cutSized(rest)
			p.EntityName = &name
		}
		parts = append(parts, p)
	}
	return parts
}

// Texts in records have at most 32767 bytes, so two bytes hold a length.
func appendSized(dst []byte, s string) []byte {
	return append(append(dst, byte(len(s)>>8), byte(len(s))), s...)
}

func cutSized(s string) (head, rest string) {
	n := int(s[0])<<8 | int(s[1])
	return s[2 : 2+n], s[2+n:]
}
