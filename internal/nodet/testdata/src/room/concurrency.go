package room

import (
	"iter"
	"sync"        // want `\[sync\] import of sync: `
	"sync/atomic" // want `\[sync\] import of sync/atomic: `
)

var pool sync.Pool

var counter atomic.Int64

func concurrency(c chan int) int { // want `\[channel\] channel type`
	go concurrency(c) // want `\[goroutine\] go statement`
	c <- 1            // want `\[channel\] channel send`
	for range c {     // want `\[channel\] range over a channel`
	}
	select {}                                     // want `\[select\] select statement`
	close(c)                                      // want `\[channel\] channel close`
	_, stop := iter.Pull(func(func(int) bool) {}) // want `\[goroutine\] iter.Pull`
	stop()
	return <-c // want `\[channel\] channel receive`
}

func recovers() {
	defer func() {
		_ = recover() // want `\[recover\] recover`
	}()
}

// A deferred call is no goroutine, and a method called recover is not the builtin.
type healer struct{}

func (healer) recover() {}

func heals(h healer) {
	defer h.recover()
	h.recover()
}
