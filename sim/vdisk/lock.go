package vdisk

import "slices"

// lock is an advisory lock on a path, held by the handle of a process.
type lock struct {
	path  string
	owner *Handle
}

// Lock takes the exclusive lock on a path, as a process does with fcntl on a file that it keeps open: taken is false while another
// handle of the volume has it, and true when this one has it already. It ends with the handle, so with the process, however that ends.
//
// It is advisory: it keeps nobody from reading or writing. It is no operation of the disk: it draws nothing, takes no time, makes no file,
// and nothing of it is there after a crash. An error says that the handle is closed or that the path is none.
func (h *Handle) Lock(path string) (taken bool, err error) {
	if err := h.enter("lock", path); err != nil {
		return false, err
	}
	v := h.volume
	for i := range v.locks {
		if v.locks[i].path == path {
			return v.locks[i].owner == h, nil
		}
	}
	v.locks = append(v.locks, lock{path, h})
	return true, nil
}

// unlock takes away the locks of a handle that is dropped.
func (v *Volume) unlock(h *Handle) {
	v.locks = slices.DeleteFunc(v.locks, func(l lock) bool { return l.owner == h })
}
