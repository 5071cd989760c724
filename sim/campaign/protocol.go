package campaign

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// mark stands in front of every answer. What a scenario prints does not carry it.
const mark = "kraftsim1 "

// answerMark is what a worker writes in front: the newline ends a line that a scenario printed and left open.
const answerMark = "\n" + mark

// maxLine bounds a line of the protocol: the digests of a run of some ten million events fit.
const maxLine = 1 << 28

// The things a worker can be asked to do.
const (
	doBatch   = "batch"
	doShrink  = "shrink"
	doRun     = "run"
	doHashes  = "hashes"
	doDigests = "digests"
	doTrace   = "trace"
	doExplain = "explain"
)

// request is one line from the parent.
type request struct {
	ID       int64      `json:"id"`
	Do       string     `json:"do"`
	Scenario string     `json:"scenario,omitempty"`
	First    uint64     `json:"first,omitempty"`
	Count    int64      `json:"count,omitempty"`
	Plan     *plan.Plan `json:"plan,omitempty"`   // shrink, run
	Target   string     `json:"target,omitempty"` // shrink
	Budget   int64      `json:"budget,omitempty"` // shrink, in runs
	Loud     bool       `json:"loud,omitempty"`   // hashes and the like: poison, trace and recording on, seeds in falling order
	Event    int64      `json:"event,omitempty"`  // trace: the event of interest
	File     string     `json:"file,omitempty"`   // explain: the capsule

	again *again // stays with the parent
}

// again marks a request as the second try of a seed during which a worker died.
type again struct {
	first *death
	rest  []request // what is still to be run of the batch
}

// response is one line from a worker.
type response struct {
	ID      int64           `json:"id"`
	Error   string          `json:"error,omitempty"` // the request could not be served; nothing else is set
	Batch   *Tally          `json:"batch,omitempty"`
	Shrunk  *shrunk         `json:"shrunk,omitempty"`
	Capsule []byte          `json:"capsule,omitempty"` // run
	Hashes  []SeedHash      `json:"hashes,omitempty"`
	Digests []byte          `json:"digests,omitempty"` // pairs of event id and digest, 8 bytes little endian each
	Trace   []sim.TraceLine `json:"trace,omitempty"`
	Files   []string        `json:"files,omitempty"` // explain
	// Unexplained is why there are none.
	Unexplained string `json:"unexplained,omitempty"`
}

// shrunk is the answer to doShrink: the capsule of the short plan.
type shrunk struct {
	Stats   shrink.Stats `json:"stats"`
	Capsule []byte       `json:"capsule,omitempty"`
}

// errLine is a line that is no message of the protocol. Readers skip it.
var errLine = errors.New("campaign: not a protocol line")

// writeMessage writes one message as one line in a single write.
func writeMessage(w io.Writer, mark string, message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("campaign: encode message: %w", err)
	}
	line := make([]byte, 0, len(mark)+len(body)+1)
	line = append(append(append(line, mark...), body...), '\n')
	_, err = w.Write(line)
	return err
}

// readMessage reads the next line into message. It returns errLine for a line that is none, io.EOF at the end; a last line
// without a newline is a writer that died and counts as the end.
func readMessage(r *bufio.Reader, mark string, message any) error {
	line, err := readLine(r)
	if err != nil {
		return err
	}
	body, ok := bytes.CutPrefix(line, []byte(mark))
	if !ok {
		return errLine
	}
	if err := json.Unmarshal(body, message); err != nil {
		return errLine
	}
	return nil
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) <= maxLine { // a longer line is dropped, and then is no message
			line = append(line, part...)
		}
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return nil, io.EOF
		}
	}
}

// progressSize is the size of the progress file: request, runs so far in it, seed.
const progressSize = 24

// progress is what a worker is at. It is written before each run and read by the parent's watchdog.
type progress struct {
	Request, Run int64
	Seed         uint64
}

func (p progress) encode(buf []byte) {
	binary.LittleEndian.PutUint64(buf, uint64(p.Request))
	binary.LittleEndian.PutUint64(buf[8:], uint64(p.Run))
	binary.LittleEndian.PutUint64(buf[16:], p.Seed)
}

func decodeProgress(buf []byte) progress {
	return progress{
		Request: int64(binary.LittleEndian.Uint64(buf)), Run: int64(binary.LittleEndian.Uint64(buf[8:])),
		Seed: binary.LittleEndian.Uint64(buf[16:]),
	}
}
