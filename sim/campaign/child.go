package campaign

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Command makes the command of a worker process that announces its runs in the given file. Standard streams are set by
// the campaign.
type Command func(progressFile string) *exec.Cmd

// death is why a worker could not answer.
type death struct {
	evidence string // a fixed word for the fingerprint: exit, hang, memory
	status   string // how the process ended
	tail     string // the end of what it wrote to standard error
	at       progress
	known    bool // at belongs to the request that was being served
}

func (d *death) Error() string { return "campaign: worker " + d.evidence + ": " + d.status }

// verdict of the run during which the worker died.
func (d *death) verdict() *plan.Verdict {
	outcome := plan.Panic
	if d.evidence == "hang" {
		outcome = plan.Spin
	}
	detail := d.status
	if cause := causeLine(d.tail); cause != "" {
		detail += ": " + cause
	}
	return dead(outcome, d.evidence, detail)
}

// causeLine finds the line in which the Go runtime says why it gave up.
func causeLine(tail string) string {
	for line := range strings.SplitSeq(tail, "\n") {
		for _, start := range []string{"fatal error: ", "panic: ", "runtime: ", "SIG", "worker: "} {
			if strings.HasPrefix(line, start) {
				return line
			}
		}
	}
	return ""
}

// child is the parent's end of one worker process. It starts the process when it is needed and again after a death.
type child struct {
	command Command
	limit   time.Duration // for one run

	process *exec.Cmd
	in      io.WriteCloser
	answers chan response
	errTail *tail
	file    *os.File
	nextID  int64
}

// progressName is part of the names of the files in which workers announce their runs.
const progressName = "simrun-progress"

func (c *child) start() error {
	// The worker removes the file as soon as it has it open; of a campaign that was killed before, the next one does.
	outfile.RemoveLeftovers(os.TempDir(), progressName)
	file, err := os.CreateTemp("", outfile.Unfinished(progressName))
	if err != nil {
		return fmt.Errorf("campaign: the temporary folder cannot be written, set TMPDIR to another one: %w", err)
	}
	process := c.command(file.Name())
	in, err := process.StdinPipe()
	if err != nil {
		discard(file)
		return fmt.Errorf("campaign: %w", err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		discard(file)
		return fmt.Errorf("campaign: %w", err)
	}
	c.errTail = new(tail)
	process.Stderr = c.errTail
	// Whatever holds the pipe open after the process is gone must not hold the campaign.
	process.WaitDelay = 2 * time.Second
	if err := process.Start(); err != nil {
		discard(file)
		return fmt.Errorf("campaign: start worker: %w", err)
	}
	c.process, c.in, c.file = process, in, file
	c.answers = make(chan response, 1)
	go readAnswers(out, c.answers)
	return nil
}

// discard closes a progress file. Its worker may have died before it could remove it; most have, and then there is nothing to do.
func discard(file *os.File) {
	_ = file.Close()
	_ = os.Remove(file.Name())
}

// readAnswers passes on messages and skips what is none, until the process closes its output.
func readAnswers(out io.Reader, answers chan<- response) {
	defer close(answers)
	r := bufio.NewReaderSize(out, 1<<16)
	for {
		var res response
		switch err := readMessage(r, mark, &res); {
		case errors.Is(err, errLine):
		case err != nil:
			return
		default:
			answers <- res
		}
	}
}

// do sends a request and waits for its answer. A *death error means that the process is gone; stop closing means the caller
// lost interest, and the process is killed then too.
func (c *child) do(stop <-chan struct{}, req request) (response, error) {
	if c.process == nil {
		if err := c.start(); err != nil {
			return response{}, err
		}
	}
	c.nextID++
	req.ID = c.nextID
	// A write error means that the process is gone, which the closed answers tell too.
	_ = writeMessage(c.in, "", &req)
	watch := time.NewTicker(min(c.limit/8+time.Millisecond, 250*time.Millisecond))
	defer watch.Stop()
	dog := watchdog{limit: c.limit, cpu: func() (time.Duration, bool) { return cpuTime(c.process.Process.Pid) }, now: time.Now}
	for {
		select {
		case res, ok := <-c.answers:
			if !ok {
				return response{}, c.bury(req.ID, "")
			}
			if res.ID != req.ID {
				continue
			}
			if res.Error != "" {
				return response{}, errors.New(res.Error)
			}
			return res, nil
		case <-stop:
			c.close()
			return response{}, errStopped
		case <-watch.C:
			if dog.hung(c.at()) {
				_ = c.process.Process.Kill()
				return response{}, c.bury(req.ID, "hang")
			}
		}
	}
}

// errStopped is returned for a request that was given up because the campaign ends.
var errStopped = errors.New("campaign: stopped")

// at reads the progress file.
func (c *child) at() progress {
	var buf [progressSize]byte
	if n, err := c.file.ReadAt(buf[:], 0); n < progressSize && err != nil {
		return progress{}
	}
	return decodeProgress(buf[:])
}

// bury waits for the end of the process and says how it came about.
func (c *child) bury(request int64, evidence string) *death {
	_ = c.in.Close()
	err := c.process.Wait()
	at := c.at()
	d := &death{evidence: evidence, at: at, known: at.Request == request, tail: c.errTail.String()}
	switch {
	case evidence == "hang":
		d.status = fmt.Sprintf("no end within %v", c.limit)
	case c.process.ProcessState != nil && c.process.ProcessState.ExitCode() == exitMemory:
		d.evidence, d.status = "memory", "heap over its bound"
	case err != nil:
		d.evidence, d.status = "exit", err.Error()
	default:
		d.evidence, d.status = "exit", "exit status 0 in the middle of a run"
	}
	discard(c.file)
	c.process = nil
	return d
}

// close ends the process, if there is one.
func (c *child) close() {
	if c.process == nil {
		return
	}
	_ = c.in.Close()
	_ = c.process.Process.Kill()
	_ = c.process.Wait()
	discard(c.file)
	c.process = nil
}

// tail keeps the end of a stream. The process writes to it from a goroutine of package exec.
type tail struct {
	mu    sync.Mutex
	bytes []byte
}

// keepTail is how much of standard error a finding carries. A Go crash starts with the reason, so the start is kept too.
const keepTail = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, p...)
	if len(t.bytes) > 2*keepTail {
		cut := append(t.bytes[:keepTail:keepTail], "\n...\n"...)
		t.bytes = append(cut, t.bytes[len(t.bytes)-keepTail+8:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.bytes), "?")
}
