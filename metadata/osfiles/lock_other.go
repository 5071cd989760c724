//go:build !linux && !darwin

package osfiles

import "errors"

// Lock is not there on this system.
func (*Disk) Lock(string) (bool, error) { return false, errors.ErrUnsupported }

// LockedElsewhere finds nothing on this system.
func (*Disk) LockedElsewhere(string) (bool, error) { return false, nil }
