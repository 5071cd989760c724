package transfer

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/simtest"
)

func TestTransfer(t *testing.T) { simtest.Seeds(t, Catalogue(), "transfer", 1, 500) }

// hasty acknowledges and tells before it flushes: the bug of the tutorial.
type hasty struct{ receiver }

func (r *hasty) Input(env *sim.Env, in *sim.Input) error {
	m, ok := in.Msg.(message)
	if !ok {
		return nil
	}
	if m.number == r.applied+1 {
		r.applied++
		env.Observe(message{kindApplied, r.applied})
		env.SendTo(in.From, port, message{kindAck, r.applied})
		if err := env.Files().WriteAt(r.fd, []byte{1}, int64(r.applied-1)); err != nil {
			return err
		}
		return env.Files().Sync(r.fd)
	}
	env.SendTo(in.From, port, message{kindAck, r.applied})
	return nil
}

// hastyScenario is Scenario with the bug.
type hastyScenario struct{ Scenario }

func (s hastyScenario) Build(w *sim.World, p *plan.Plan) error {
	err := s.Scenario.Build(w, p)
	if err == nil && w.Host("receiver") != nil {
		w.Install(w.Host("receiver"), func() sim.Process { return &hasty{} })
	}
	return err
}

func TestHastyTransferIsFound(t *testing.T) {
	c := Catalogue()
	c.Scenarios = []sim.Scenario{hastyScenario{}}
	e, found := sim.NewEngine(c), 0
	for seed := uint64(1); seed <= 500; seed++ {
		r, err := e.Run(hastyScenario{}.Draw(seed), sim.Options{})
		require.NoError(t, err)
		if r.Verdict.Fingerprint() == "violation/exactly-once/not-the-next" {
			if found++; found == 1 {
				p := hastyScenario{}.Draw(seed)
				t.Log(simtest.Explain(p, r.Verdict), simtest.Replay(c, p, r.Verdict))
			}
		}
	}
	require.Positive(t, found)
}

// Every block of Go in the tutorial stands in this package, letter for letter.
func TestTutorialIsThisCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/sim.md")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("a copy of the example, without the page")
	}
	require.NoError(t, err)
	var code string
	for _, file := range []string{"transfer.go", "transfer_test.go"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		code += string(text)
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	require.Greater(t, len(blocks), 6)
	for _, b := range blocks {
		b, _, _ = strings.Cut(b, "```")
		require.Contains(t, code, b)
	}
}
