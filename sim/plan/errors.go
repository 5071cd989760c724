package plan

import (
	"errors"
	"fmt"
)

// ErrInput is what every complaint about a plan or capsule wraps: the input is wrong, not the program.
var ErrInput = errors.New("plan: bad input")

// FieldError names the field of a plan that is wrong, and what to do about it.
type FieldError struct {
	File    string // "" when the plan did not come from a file
	Line    int    // 1-based; 0 unknown
	Column  int
	Field   string // path such as actions[3].params.to; "" for the document
	Problem string
}

// Error prints file, position, field and problem on one line.
func (e *FieldError) Error() string {
	at := "plan"
	if e.File != "" {
		at = e.File
		if e.Line > 0 {
			at = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
		}
	}
	if e.Field == "" {
		return at + ": " + e.Problem
	}
	return at + ": " + e.Field + ": " + e.Problem
}

// Unwrap makes errors.Is(err, ErrInput) true.
func (e *FieldError) Unwrap() error { return ErrInput }

// InFile returns the error with the file's name in front when it is a FieldError that names none yet.
func InFile(file string, err error) error {
	var f *FieldError
	if errors.As(err, &f) && f.File == "" {
		c := *f
		c.File = file
		return &c
	}
	return err
}
