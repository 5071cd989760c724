package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// DurationUs returns a parameter as microseconds, or absent when it is not there.
func (p Params) DurationUs(name string, absent int64) (int64, error) {
	text, ok := p[name]
	if !ok {
		return absent, nil
	}
	us, err := ParseDurationUs(text)
	if err != nil {
		return 0, &FieldError{Field: "params." + name, Problem: err.Error()}
	}
	return us, nil
}

// Int64 returns a parameter as a number, or absent when it is not there.
func (p Params) Int64(name string, absent int64) (int64, error) {
	text, ok := p[name]
	if !ok {
		return absent, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &FieldError{Field: "params." + name, Problem: fmt.Sprintf("%q is not a whole number", text)}
	}
	return n, nil
}

// Word returns a parameter as text, or absent when it is not there.
func (p Params) Word(name, absent string) string {
	if text, ok := p[name]; ok {
		return text
	}
	return absent
}

// List returns a parameter as its comma separated parts; nil when it is absent or empty.
func (p Params) List(name string) []string {
	text := p[name]
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// Clone returns a copy that shares nothing; nil stays nil.
func (p Params) Clone() Params {
	if p == nil {
		return nil
	}
	c := make(Params, len(p))
	for k, v := range p { //nodet:allow maprange copies into a map, order does not show
		c[k] = v
	}
	return c
}
