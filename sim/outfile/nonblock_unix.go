//go:build linux || darwin

package outfile

import (
	"errors"
	"syscall"
)

// nonblock makes opening a pipe an error where nobody reads it; to wait for a reader could take for ever.
const nonblock = syscall.O_NONBLOCK

// nobodyReads says whether an open with nonblock failed for that reason.
func nobodyReads(err error) bool { return errors.Is(err, syscall.ENXIO) }
