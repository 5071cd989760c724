package mutants

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// runLimit is the wall time after which a run counts as hung.
const runLimit = 60 * time.Second

// child is one process of a build that serves orders.
type child struct {
	binary  string
	process *exec.Cmd
	orders  io.WriteCloser
	results chan result
}

func (c *child) start() error {
	c.process = exec.Command(c.binary, "seeds")
	var err error
	if c.orders, err = c.process.StdinPipe(); err != nil {
		return fmt.Errorf("mutants: %w", err)
	}
	out, err := c.process.StdoutPipe()
	if err != nil {
		return fmt.Errorf("mutants: %w", err)
	}
	c.process.WaitDelay = time.Second
	if err := c.process.Start(); err != nil {
		return fmt.Errorf("mutants: %w", err)
	}
	c.results = make(chan result, 64)
	go func(results chan<- result) {
		defer close(results)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var r result
			if json.Unmarshal(line, &r) == nil {
				results <- r
			}
		}
	}(c.results)
	return nil
}

// send hands over an order. A write error means that the process is gone, which the closed results tell too.
func (c *child) send(o *order) bool { return json.NewEncoder(c.orders).Encode(o) == nil }

// stop ends the process, if there is one.
func (c *child) stop() {
	if c.process == nil {
		return
	}
	_ = c.orders.Close()
	_ = c.process.Process.Kill()
	for range c.results { // the reader must not wait for room
	}
	_ = c.process.Wait()
	c.process = nil
}

// serve runs an order and calls f for each finished run, in order. A process that dies or hangs costs the run that it was
// at, which is reported through died; the order goes on behind it.
func (c *child) serve(ctx context.Context, o order, f func(r *result), died func(run int64, how string)) error {
	for {
		if c.process == nil {
			if err := c.start(); err != nil {
				return err
			}
		}
		c.send(&o)
		how, err := c.collect(ctx, &o, runLimit, f)
		if err != nil || how == "" {
			return err
		}
		c.stop()
		died(o.Skip, how)
		if o.Skip++; o.Skip >= o.runs() {
			return nil
		}
	}
}

// collect reads the results of an order and moves its Skip along. how tells why the process is of no use any more.
func (c *child) collect(ctx context.Context, o *order, limit time.Duration, f func(r *result)) (how string, err error) {
	hung := time.NewTimer(limit)
	defer hung.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-hung.C:
			return "hung", nil
		case r, ok := <-c.results:
			if !ok {
				return "died", nil
			}
			if r.Done {
				return "", nil
			}
			o.Skip = r.Run + 1
			f(&r)
			hung.Reset(limit)
		}
	}
}
