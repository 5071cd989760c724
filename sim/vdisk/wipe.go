package vdisk

import "strings"

// Wipe erases everything below a directory, from cache and platter at once: a disk that was replaced by an empty one, or a
// partition that somebody deleted. The directory itself stays. The name of a file stands for that file alone. It is for a volume that no process uses, after a power loss: nothing
// is in flight and no change of names is pending. The observer hears nothing, as after any event that is not an operation; whoever
// mirrors the volume reads it again. Returns the number of files that are gone.
func (v *Volume) Wipe(dir string) (files int64) {
	below := dir + "/"
	if dir == root {
		below = root
	}
	for _, names := range [2]map[string]int32{v.names, v.durable} {
		for _, path := range v.sortedNames(names) {
			slot := names[path]
			one := path == dir && !v.inodes[slot].directory
			if !strings.HasPrefix(path, below) && !one || path == root {
				continue
			}
			if n := v.inodes[slot]; !n.directory && n.refs == 1 {
				files++
			}
			delete(names, path)
			v.release(slot)
		}
	}
	return files
}
