package vdisk

// Image is what a platter held at some time: a snapshot of a volume, a backup. It is never changed.
type Image struct {
	files []imageFile // by ascending path, so that a directory comes before what is in it
}

type imageFile struct {
	path      string
	directory bool
	data      []byte
}

// Copy returns what is on the platter now: every name and byte that is durable, and nothing that is only in the page cache.
func (v *Volume) Copy() *Image {
	i := &Image{}
	for _, path := range v.sortedNames(v.durable) {
		if path == root {
			continue
		}
		n := v.inodes[v.durable[path]]
		f := imageFile{path: path, directory: n.directory}
		if !n.directory {
			f.data = append([]byte(nil), n.platter()...)
		}
		i.files = append(i.files, f)
	}
	return i
}

// Restore makes an image the whole content of the volume, durable. Like Wipe it is for a volume that no process uses, after a power
// loss, and the observer hears nothing.
func (v *Volume) Restore(i *Image) {
	v.Wipe(root)
	for k := range i.files {
		if f := &i.files[k]; f.directory {
			v.LoadDir(f.path)
		} else {
			v.Load(f.path, f.data)
		}
	}
}
