package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// pool hands requests to worker processes. Each worker has one request at a time.
type pool struct {
	children []*child
}

// newPool prepares n workers; their processes start with their first request.
func newPool(n int, limit time.Duration, command Command) *pool {
	p := &pool{}
	for range n {
		p.children = append(p.children, &child{command: withProcs(command, 1), limit: limit})
	}
	return p
}

// withProcs sets GOMAXPROCS of the worker.
func withProcs(command Command, procs int) Command {
	return func(progressFile string) *exec.Cmd {
		c := command(progressFile)
		env := c.Env
		if env == nil {
			env = os.Environ()
		}
		c.Env = append(env[:len(env):len(env)], fmt.Sprintf("GOMAXPROCS=%d", procs))
		return c
	}
}

func (p *pool) close() {
	for _, c := range p.children {
		c.close()
	}
}

// each sends all requests and calls done for every answer or death, one call at a time. done may return requests to be made in
// addition. each returns early when ctx ends, without an error.
func (p *pool) each(ctx context.Context, requests []request, done func(request, response, *death) ([]request, error)) error {
	q := &queue{requests: requests}
	var wg sync.WaitGroup
	for _, c := range p.children[:min(len(p.children), len(requests))] {
		wg.Go(func() {
			for {
				req, ok := q.next(ctx)
				if !ok {
					return
				}
				q.serve(ctx, c, []request{req}, done)
			}
		})
	}
	wg.Wait()
	return q.err
}

// queue is the shared state of one call of each.
type queue struct {
	mu       sync.Mutex
	requests []request
	err      error
}

func (q *queue) next(ctx context.Context) (request, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil || len(q.requests) == 0 || ctx.Err() != nil {
		return request{}, false
	}
	req := q.requests[0]
	q.requests = q.requests[1:]
	return req, true
}

// serve works off a stack of requests on one worker. What a death leaves undone stays with the same worker.
func (q *queue) serve(ctx context.Context, c *child, stack []request, done func(request, response, *death) ([]request, error)) {
	for len(stack) > 0 && ctx.Err() == nil {
		req := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		res, d, err := ask(ctx, c, req)
		if errors.Is(err, errStopped) {
			return
		}
		q.mu.Lock()
		var more []request
		if err == nil {
			more, err = done(req, res, d)
		}
		if err != nil && q.err == nil {
			q.err = err
		}
		failed := q.err != nil
		q.mu.Unlock()
		if failed {
			return
		}
		stack = append(stack, more...)
	}
}

// ask repeats a request whose worker died before it announced a seed: nothing in the plans can be the reason for that.
func ask(ctx context.Context, c *child, req request) (response, *death, error) {
	for try := 1; ; try++ {
		res, err := c.do(ctx.Done(), req)
		var d *death
		if !errors.As(err, &d) {
			return res, nil, err
		}
		if d.known {
			return res, d, nil
		}
		if try == 3 {
			return res, nil, fmt.Errorf("campaign: workers die before their first run (%s): %s", d.status, lastLine(d.tail))
		}
	}
}
