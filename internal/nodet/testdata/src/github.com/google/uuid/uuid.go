// Package uuid stands in for the real one, of which the cases need the names only.
package uuid

type UUID [16]byte

func New() UUID                      { return UUID{} }
func NewString() string              { return "" }
func Parse(string) (UUID, error)     { return UUID{}, nil }
func FromBytes([]byte) (UUID, error) { return UUID{}, nil }
