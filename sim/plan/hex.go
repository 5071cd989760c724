package plan

import (
	"fmt"
	"strconv"
)

// Hex64 is a 64-bit digest that travels as 16 hexadecimal digits.
type Hex64 uint64

// String returns the 16 digits.
func (v Hex64) String() string { return fmt.Sprintf("%016x", uint64(v)) }

// MarshalJSON writes the 16 digits as a string.
func (v Hex64) MarshalJSON() ([]byte, error) { return []byte(`"` + v.String() + `"`), nil }

// UnmarshalJSON reads 16 hexadecimal digits.
func (v *Hex64) UnmarshalJSON(b []byte) error {
	s, err := unquote(b)
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil || len(s) != 16 {
		return fmt.Errorf("%q is not a digest of 16 hexadecimal digits", s)
	}
	*v = Hex64(n)
	return nil
}
