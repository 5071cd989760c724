package cli

import (
	"io"

	"golang.org/x/exp/slog"
)

// newLog returns what a campaign reports remarks about its workers to: structured lines on standard error. This is the only
// file of the shells that knows the logging library.
func newLog(w io.Writer) func(message string, pairs ...any) {
	logger := slog.New(slog.NewTextHandler(w, nil))
	return func(message string, pairs ...any) { logger.Warn(message, pairs...) }
}
