package plan

import (
	"fmt"
	"strconv"
)

// Uint64 is a 64-bit value that travels as a JSON string, because a JSON number loses bits past 2^53.
type Uint64 uint64

// Int64 is the signed form of Uint64.
type Int64 int64

// MarshalJSON writes the value as a decimal string.
func (v Uint64) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatUint(uint64(v), 10)), nil
}

// UnmarshalJSON reads a decimal string; a bare number is an error, so that no writer gets used to it.
func (v *Uint64) UnmarshalJSON(b []byte) error {
	s, err := unquote(b)
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a decimal number of 64 bits", s)
	}
	*v = Uint64(n)
	return nil
}

// MarshalJSON writes the value as a decimal string.
func (v Int64) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(v), 10)), nil
}

// UnmarshalJSON reads a decimal string.
func (v *Int64) UnmarshalJSON(b []byte) error {
	s, err := unquote(b)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a decimal number of 64 bits", s)
	}
	*v = Int64(n)
	return nil
}

func unquote(b []byte) (string, error) {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return "", fmt.Errorf("%s must be a string: 64-bit values are written as \"123\"", b)
	}
	return string(b[1 : len(b)-1]), nil
}
