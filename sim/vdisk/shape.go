package vdisk

import "encoding/binary"

// AppendShape appends, for each file in the order of paths, its name and how long it is in the page cache and on the platter: what a
// state without times needs to know of a disk.
func (v *Volume) AppendShape(buf []byte) []byte {
	for _, path := range v.sortedNames(v.names) {
		n := v.inodes[v.names[path]]
		if n.directory {
			continue
		}
		buf = appendText(buf, path)
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(n.cache)))
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(n.platter())))
	}
	return binary.BigEndian.AppendUint32(buf, uint32(len(v.journal)))
}
