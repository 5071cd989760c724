package raftlog

import "strconv"

// segmentName returns the file name of the segment that begins at base.
func segmentName(base int64) string {
	var buf [32]byte
	return string(append(appendPadded(buf[:0], base, offsetWidth), segmentSuffix...))
}

// SnapshotName returns the file name of a complete snapshot, for instance the bootstrap checkpoint
// 00000000000000000000-0000000000.checkpoint for the zero id.
func SnapshotName(id OffsetAndEpoch) string {
	var buf [64]byte
	return string(append(appendID(buf[:0], id), checkpointSuffix...))
}

// partPath returns the path of a snapshot that is being written, in dir.
func partPath(dir string, id OffsetAndEpoch, suffix uint64) string {
	var buf [160]byte
	name := strconv.AppendUint(append(appendID(append(append(buf[:0], dir...), '/'), id), '-'), suffix, 10)
	return string(append(name, partSuffix...))
}

// snapshotPath returns the path of a complete snapshot in dir.
func snapshotPath(dir string, id OffsetAndEpoch) string {
	var buf [160]byte
	return string(append(appendID(append(append(buf[:0], dir...), '/'), id), checkpointSuffix...))
}

func appendID(dst []byte, id OffsetAndEpoch) []byte {
	return appendPadded(append(appendPadded(dst, id.Offset, offsetWidth), '-'), int64(id.Epoch), epochWidth)
}

// appendPadded appends a number with zeros in front, width characters in all if it is not longer; a sign counts.
func appendPadded(dst []byte, v int64, width int) []byte {
	if v >= 0 && width == offsetWidth { // a number of 64 bits has no more digits
		at := len(dst)
		dst = append(dst, "00000000000000000000"...)
		for i := at + offsetWidth - 1; v > 0; i-- {
			dst[i] += byte(v % 10)
			v /= 10
		}
		return dst
	}
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], v, 10)
	if v < 0 {
		dst, digits, width = append(dst, '-'), digits[1:], width-1
	}
	for n := len(digits); n < width; n++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
