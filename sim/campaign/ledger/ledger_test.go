package ledger_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/campaign/ledger"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

func open(t require.TestingT, file string) *ledger.Ledger {
	l, err := ledger.Open(file)
	require.NoError(t, err)
	return l
}

func begin(t require.TestingT, l *ledger.Ledger, likeness string) *ledger.Journal {
	j, err := l.Begin(ledger.Entry{Program: "simrun", Engine: "1", Build: "b", Command: "simrun campaign", Config: "{}", Likeness: likeness})
	require.NoError(t, err)
	return j
}

func batch(at, count int64) campaign.Batch {
	return campaign.Batch{
		Range: campaign.Range{Scenario: "toy/a", At: at, Count: count},
		Tally: &campaign.Tally{
			Scenario: "toy/a", Runs: count, Outcomes: map[plan.Outcome]int64{plan.OK: count}, Stats: map[string]int64{"crashes": at},
			Hits:   map[string]*campaign.Hit{"violation/x/y": {Runs: 1, First: campaign.Example{Scenario: "toy/a", Seed: 1<<64 - 1}}},
			Events: []int64{1, 2}, VirtualUs: []int64{3}, Elections: []int64{4},
		},
	}
}

// Whatever a campaign writes is there again, in a file that was closed and opened.
func TestWhatIsWrittenIsRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep/campaigns.db")
	l := open(t, file)
	j := begin(t, l, "like")
	stages := [][]campaign.Range{{{Scenario: "toy/a", Count: 20}, {Scenario: "toy/b", Count: 20}}, nil, {{Scenario: "toy/a", At: 20, Count: 5}}}
	for i, s := range stages {
		require.NoError(t, j.Decide(int64(i), s))
	}
	batches := []campaign.Batch{batch(0, 10), batch(10, 10), {Range: campaign.Range{Scenario: "toy/b", Count: 20}}}
	batches[1].Died, batches[1].Note = true, "killed"
	require.NoError(t, j.Done(batches[:1], 3*time.Second))
	require.NoError(t, j.Done(batches[1:], 4*time.Second))
	require.NoError(t, l.Close())

	l, err := ledger.OpenExisting(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	_, e, past, err := l.Resume(j.ID())
	require.NoError(t, err)
	require.Equal(t, campaign.Past{Stages: stages, Batches: batches, Active: 4 * time.Second}, past)
	require.Equal(t, ledger.Running, e.State)
	require.Equal(t, int64(20), e.Runs, "what was left out is no run")
	require.Nil(t, e.Summary)
	last, err := l.Last()
	require.NoError(t, err)
	require.Equal(t, e, last)
	_, err = l.Find(7)
	require.ErrorIs(t, err, ledger.ErrUnknown)
}

// A batch that is there already makes the whole transaction nothing.
func TestNothingIsThereTwiceOrInPart(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "x.db"))
	defer func() { require.NoError(t, l.Close()) }()
	j := begin(t, l, "like")
	require.NoError(t, j.Done([]campaign.Batch{batch(10, 10)}, time.Second))
	err := j.Done([]campaign.Batch{batch(0, 10), batch(10, 10)}, time.Second)
	require.ErrorContains(t, err, "toy/a, 10 seeds at 10: another process is at this campaign, and has kept them")
	_, _, past, err := l.Resume(j.ID())
	require.NoError(t, err)
	require.Equal(t, []campaign.Batch{batch(10, 10)}, past.Batches)
	require.NoError(t, j.Decide(1, nil))
	_, _, _, err = l.Resume(j.ID())
	require.ErrorContains(t, err, "campaign 1 lacks stage 0")
}

func summary(runs int64, findings ...string) *campaign.Summary {
	s := &campaign.Summary{Program: "simrun", Engine: "1", Runs: runs, FindingRuns: campaign.NewRate(0, runs)}
	for _, f := range findings {
		s.Findings = append(s.Findings, campaign.Bucket{
			Fingerprint: f, Runs: 3, Scenarios: []string{"toy/a", "toy/b@disk"}, ScenarioRuns: []int64{1, 2}, ScenarioOutOf: []int64{10, 20},
			ScenarioFirst: []uint64{5, 1<<64 - 1}, Shortest: &campaign.Shrunk{Capsule: "out/x.json"},
		})
	}
	return s
}

func TestEndsBucketsAndComparisons(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	l := open(t, file)
	defer func() { require.NoError(t, l.Close()) }()
	first, second, other := begin(t, l, "like"), begin(t, l, "like"), begin(t, l, "unlike")
	third := begin(t, l, "like")
	before, err := l.Before(first.ID(), "like")
	require.NoError(t, err)
	require.Nil(t, before)
	require.NoError(t, first.End(summary(100, "violation/x/y")))
	interrupted := summary(50)
	interrupted.Interrupted = true
	require.NoError(t, other.End(interrupted))
	before, err = l.Before(third.ID(), "like")
	require.NoError(t, err)
	require.Equal(t, first.ID(), before.ID, "the second has no end")
	require.Equal(t, summary(100, "violation/x/y"), before.Summary)
	stopped := summary(70, "violation/x/y")
	stopped.Stopped = "time"
	require.NoError(t, second.End(stopped))
	require.NoError(t, second.End(stopped), "once more, after it went on")
	list, err := l.List()
	require.NoError(t, err)
	states := make([]ledger.State, len(list))
	for i := range list {
		states[i] = list[i].State
	}
	require.Equal(t, []ledger.State{ledger.Done, ledger.Stopped, ledger.Interrupted, ledger.Running}, states)

	seen, err := l.LastSeen("violation/x/y", "toy/b")
	require.NoError(t, err)
	require.Equal(t, &ledger.Seen{
		Campaign: second.ID(), Fingerprint: "violation/x/y", Scenario: "toy/b@disk", Rate: campaign.NewRate(2, 20),
	}, seen)
	seen, err = l.LastSeen("violation/x/y", "toy")
	require.NoError(t, err)
	require.Nil(t, seen)

	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	var seed, capsule string
	require.NoError(t, db.QueryRow("SELECT first_seed, capsule FROM buckets WHERE campaign = 1 AND scenario = 'toy/b@disk'").Scan(&seed, &capsule))
	require.Equal(t, "18446744073709551615", seed)
	require.Equal(t, "out/x.json", capsule)
}

// A file that was cut or damaged is told from one that works, whatever is wrong with it.
func TestDamagedFilesAreInput(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.db")
	l := open(t, whole)
	for range 3 {
		j := begin(t, l, "like")
		require.NoError(t, j.Decide(0, []campaign.Range{{Scenario: "toy/a", Count: 400}}))
		for i := range int64(40) {
			require.NoError(t, j.Done([]campaign.Batch{batch(10*i, 10)}, 0))
		}
		require.NoError(t, j.End(summary(400, "violation/x/y")))
	}
	require.NoError(t, l.Close())
	data, err := os.ReadFile(whole)
	require.NoError(t, err)
	problems := 0
	try := func(name string, data []byte) {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, data, 0o600))
		err := readAll(file)
		if err != nil {
			problems++
			require.ErrorIs(t, err, ledger.ErrInput, name)
			require.ErrorContains(t, err, file)
		}
	}
	for size := 0; size < len(data); size += 1 + len(data)/40 {
		try(fmt.Sprintf("cut-%d.db", size), data[:size])
	}
	for at := 100; at < len(data); at += len(data) / 60 {
		damaged := bytes.Clone(data)
		for i := at; i < min(at+64, len(damaged)); i++ {
			damaged[i] ^= 0x5a
		}
		try(fmt.Sprintf("damaged-%d.db", at), damaged)
	}
	require.Greater(t, problems, 20)
}

// readAll reads everything that a file has.
func readAll(file string) error {
	l, err := ledger.OpenExisting(file)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	list, err := l.List()
	for _, e := range list {
		if err == nil {
			_, _, _, err = l.Resume(e.ID)
		}
	}
	if err == nil {
		_, err = l.LastSeen("violation/x/y", "toy/a")
	}
	return err
}

// Of campaigns that ended long ago only what they came to is kept; of others everything is.
func TestOldBatchesAreDropped(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "x.db"))
	defer func() { require.NoError(t, l.Close()) }()
	killed := begin(t, l, "x")
	require.NoError(t, killed.Done([]campaign.Batch{batch(0, 10)}, 0))
	for range 12 {
		j := begin(t, l, "x")
		require.NoError(t, j.Decide(0, nil))
		require.NoError(t, j.Done([]campaign.Batch{batch(0, 10)}, 0))
		require.NoError(t, j.End(summary(10, "violation/x/y")))
	}
	begin(t, l, "x")
	list, err := l.List()
	require.NoError(t, err)
	require.Len(t, list, 14)
	for i, e := range list {
		_, _, past, err := l.Resume(e.ID)
		require.NoError(t, err)
		switch {
		case i == 1 || i == 2:
			require.Empty(t, past.Batches)
			require.Empty(t, past.Stages)
			require.Equal(t, int64(10), e.Runs)
		case i < 13:
			require.Len(t, past.Batches, 1, i)
		}
	}
	seen, err := l.LastSeen("violation/x/y", "toy/a")
	require.NoError(t, err)
	require.Equal(t, list[12].ID, seen.Campaign)
}

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte(fmt.Sprintf("%200s", "no database")), 0o600))
	foreign := filepath.Join(dir, "foreign")
	db, err := sql.Open("sqlite", foreign)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE t (x INTEGER)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	newer := filepath.Join(dir, "newer")
	l := open(t, newer)
	require.NoError(t, l.Close())
	db, err = sql.Open("sqlite", newer)
	require.NoError(t, err)
	_, err = db.Exec("PRAGMA user_version = 2")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	for file, want := range map[string]string{
		text: "file is not a database", foreign: "is a database, and no file of campaigns", newer: "has format 2, and this program knows 1",
		filepath.Join(dir, "none"): "no such file", dir: "is no regular file", filepath.Join(text, "x"): "not a directory",
	} {
		_, err := ledger.OpenExisting(file)
		require.ErrorIs(t, err, ledger.ErrInput)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, file)
		if want != "no such file" {
			_, err = ledger.Open(file)
			require.ErrorIs(t, err, ledger.ErrInput, file)
		}
	}
	for _, odd := range []string{"with space?.db", "a#b%41.db"} {
		l := open(t, filepath.Join(dir, odd))
		begin(t, l, "x")
		require.NoError(t, l.Close())
		require.FileExists(t, filepath.Join(dir, odd))
	}
}

// Two processes write to one file, each its own campaign.
func TestTwoAtATime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	var ledgers [2]*ledger.Ledger
	var journals [2]*ledger.Journal
	for i := range ledgers {
		ledgers[i] = open(t, file)
		journals[i] = begin(t, ledgers[i], "x")
	}
	var want [2][]campaign.Batch
	for i := range 10 {
		who := i * 7 % 3 % 2
		b := batch(int64(10*len(want[who])), 10)
		require.NoError(t, journals[who].Done([]campaign.Batch{b}, 0))
		want[who] = append(want[who], b)
	}
	for i := range ledgers {
		_, _, past, err := ledgers[1-i].Resume(journals[i].ID())
		require.NoError(t, err)
		require.Equal(t, want[i], past.Batches)
	}
	for i := range ledgers {
		require.NoError(t, ledgers[i].Close())
	}
}

// What SQLite says is followed by what can be done about it.
func TestProblemsSayWhatToDo(t *testing.T) {
	dir := t.TempDir()
	damaged := filepath.Join(dir, "damaged")
	l := open(t, damaged)
	begin(t, l, "x")
	require.NoError(t, l.Close())
	data, err := os.ReadFile(damaged)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(damaged, data[:5000], 0o600))
	_, err = ledger.OpenExisting(damaged)
	require.ErrorIs(t, err, ledger.ErrInput)
	require.ErrorContains(t, err, "name another file, or put a copy in its place")

	_, err = ledger.Open(os.DevNull)
	require.ErrorIs(t, err, ledger.ErrInput)
	require.ErrorContains(t, err, "is no regular file: name another one")

	summary := filepath.Join(dir, "summary")
	l = open(t, summary)
	id := begin(t, l, "x").ID()
	require.NoError(t, l.Close())
	db, err := sql.Open("sqlite", summary)
	require.NoError(t, err)
	_, err = db.Exec("UPDATE campaigns SET summary = '{'")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	l, err = ledger.OpenExisting(summary)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	_, err = l.Find(id)
	require.ErrorIs(t, err, ledger.ErrInput)
	require.ErrorContains(t, err, "the file is damaged: put a copy in its place")
}
