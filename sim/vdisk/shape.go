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

// AppendPlatter appends what a loss of power would leave of each file where it takes all that is not flushed: the durable names, ascending, each
// with the length of its file, and the bytes of files of one sector at most. Longer ones, logs, are told by their length, as in AppendShape.
func (v *Volume) AppendPlatter(buf []byte) []byte {
	for _, path := range v.sortedNames(v.durable) {
		n := v.inodes[v.durable[path]]
		if n.directory {
			continue
		}
		platter := n.platter()
		buf = appendText(buf, path)
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(platter)))
		if len(platter) <= SectorSize {
			buf = append(buf, platter...)
		}
	}
	return buf
}
