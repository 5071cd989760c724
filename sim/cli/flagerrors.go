package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// expectations tell for each type of flag what it takes, in words for people; pflag's own texts are those of Go's parsers.
var expectations = map[string]string{
	"bool":       "is neither true nor false",
	"int":        "is not a whole number of 64 bits",
	"int64":      "is not a whole number of 64 bits",
	"float64":    "is not a number",
	"duration":   "is not a time with a unit, such as 90s, 1m30s or 250ms, of 292 years at most",
	"seed":       "is not a whole number from 0 to 18446744073709551615",
	"int64Slice": "is not a list of whole numbers of 64 bits with commas between them",
}

// flagProblem says in one line which flag is wrong, what it takes instead, and where help is.
func flagProblem(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	help := cmd.CommandPath() + " --help"
	switch {
	case errors.As(err, &value):
		f := value.GetFlag()
		if expected := expectations[f.Value.Type()]; expected != "" {
			return Usagef("--%s: %q %s; see %s", f.Name, value.GetValue(), expected, help)
		}
		return Usagef("--%s: %q: %w; see %s", f.Name, value.GetValue(), errors.Unwrap(value), help)
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		nearest := plan.Nearest(unknown.GetSpecifiedName(), names, 1)
		return Usagef("unknown flag: --%s; the nearest is --%s; see %s", unknown.GetSpecifiedName(), strings.Join(nearest, ""), help)
	}
	return Usagef("%w; see %s", err, help)
}

// watchedWriter remembers that a write failed. Not every writer reports it: help and tables of cobra do not.
type watchedWriter struct {
	to  io.Writer
	err error
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// problem is what to say about an output that is not whole, nil for one that is.
func (w *watchedWriter) problem() error {
	if w.err == nil {
		return nil
	}
	reason := w.err
	var path *fs.PathError
	if errors.As(reason, &path) {
		reason = path.Err
	}
	return fmt.Errorf("standard output: cannot be written: %w", reason)
}
