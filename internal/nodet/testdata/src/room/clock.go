package room

import (
	"context" // want `\[clock\] import of context: `
	"log"     // want `\[clock\] import of log: `
	"time"
)

var _ context.Context

func clocks() {
	log.Print("x")
	_ = time.Now()                   // want `\[clock\] time.Now: `
	_ = time.Since(time.Time{})      // want `\[clock\] time.Since: `
	time.Sleep(1)                    // want `\[clock\] time.Sleep: `
	_ = time.After(1)                // want `\[clock\] time.After: `
	_ = time.Tick(1)                 // want `\[clock\] time.Tick: `
	_ = time.NewTimer(1)             // want `\[clock\] time.NewTimer: `
	_ = time.NewTicker(1)            // want `\[clock\] time.NewTicker: `
	_ = time.AfterFunc(1, func() {}) // want `\[clock\] time.AfterFunc: `
	f := time.Now                    // want `\[clock\] time.Now: `
	_ = f
	_ = time.Unix(0, 0).Local()    // want `\[clock\] time.Local: ` `\[clock\] time.Unix: `
	_ = time.UnixMilli(0).String() // want `\[clock\] time.UnixMilli: `
	at := time.UnixMicro(0)        // want `\[clock\] time.UnixMicro: `
	_, _ = time.Parse("2006", "x") // want `\[clock\] time.Parse: `
	_, _ = at.Unix(), at.After(at)
}

// Durations and instants made from numbers are values like others.
func durations(nowMs int64) (time.Duration, time.Time) {
	return 5 * time.Millisecond, time.UnixMilli(nowMs).UTC()
}
