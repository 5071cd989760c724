package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/stretchr/testify/require"
)

// afterRun is a writable copy of the storage that a run of a static case leaves: the folder and its only segment.
func afterRun(t *testing.T) (dir, segment string) {
	t.Helper()
	root := goldenDir(t) // before the first run changes the folder
	for _, name := range goldenCases(t) {
		dir = filepath.Join(t.TempDir(), "out")
		code, _, _ := simrun(t, "run", "--from", filepath.Join(root, name), "--export", dir)
		require.Zero(t, code, name)
		found, err := filepath.Glob(filepath.Join(dir, "*", "__cluster_metadata-0", "00000000000000000000.log"))
		require.NoError(t, err)
		state, err := os.ReadFile(filepath.Join(filepath.Dir(found[0]), "quorum-state"))
		require.NoError(t, err)
		if len(found) == 1 && strings.Contains(string(state), `"data_version":0`) {
			return dir, found[0]
		}
	}
	t.Skip("no case is static")
	return "", ""
}

// notesOf is what the JSON document says of a storage, and the text in the same words.
func notesOf(t *testing.T, dir string) scenarios.FromNotes {
	t.Helper()
	code, text, stderr := simrun(t, "run", "--from", dir)
	require.Zero(t, code, "%s%s", text, stderr)
	_, stdout, _ := simrun(t, "run", "--from", dir, "--json")
	var document struct{ More scenarios.FromNotes }
	require.NoError(t, json.Unmarshal([]byte(stdout), &document))
	require.Equal(t, len(document.More.Warnings), strings.Count(text, "\nwarning: "))
	for _, w := range document.More.Warnings {
		require.Contains(t, text, "\nwarning: "+w+"\n")
	}
	return document.More
}

// TestGoldenWarnings: two voter lists and a cut are told, in text and in JSON; a sound storage has no warning.
func TestGoldenWarnings(t *testing.T) {
	dir, segment := afterRun(t)
	notes := notesOf(t, dir)
	require.Equal(t, []string{}, notes.Warnings)
	require.Nil(t, notes.Cut)

	log, err := os.ReadFile(segment)
	require.NoError(t, err)
	damaged := append([]byte{}, log...)
	damaged[len(damaged)-3] ^= 1
	require.NoError(t, os.WriteFile(segment, damaged, 0o600))
	notes = notesOf(t, dir)
	require.Len(t, notes.Warnings, 1)
	require.NotNil(t, notes.Cut)
	require.Equal(t, filepath.ToSlash(segment), notes.Cut.File)
	require.EqualValues(t, len(log), notes.Cut.Position+notes.Cut.Bytes)
	require.Positive(t, notes.Cut.RecordsLost)

	state := filepath.Join(filepath.Dir(segment), "quorum-state")
	content, err := os.ReadFile(state)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(content), `"currentVoters":[`)
	require.True(t, found)
	require.NoError(t, os.WriteFile(state, []byte(before+`"currentVoters":[{"voterId":2147483000},`+rest), 0o600))
	notes = notesOf(t, dir)
	require.Len(t, notes.Warnings, 2)
	require.Contains(t, strings.Join(notes.Warnings, "\n"), "currentVoters: the node last ran with the voters ")
}

// TestGoldenRecordThatNobodyReplays: refused as input, in one line, without a capsule.
func TestGoldenRecordThatNobodyReplays(t *testing.T) {
	dir, segment := afterRun(t)
	log, err := os.ReadFile(segment)
	require.NoError(t, err)
	var last record.Batch
	for rest := log; len(rest) > 0; {
		last, rest, err = record.NextFileBatch(rest)
		require.NoError(t, err)
	}
	var b record.Builder
	b.Reset(log, record.BatchSpec{BaseOffset: last.NextOffset(), LeaderEpoch: last.LeaderEpoch()})
	b.Add(nil, records.Append(nil, &records.EndTransactionRecord{}, 0))
	require.NoError(t, os.WriteFile(segment, b.Finish(), 0o600))
	code, stdout, stderr := simrun(t, "run", "--from", dir)
	require.Equal(t, 2, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, filepath.Base(segment)+": offset ")
	require.Contains(t, stderr, ": EndTransactionRecord: no release can replay it: ")
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	require.NoDirExists(t, "simrun-out")
}

// TestCapsulesOfStorages: capsules of different storages have names of their own, those of one storage the same.
func TestCapsulesOfStorages(t *testing.T) {
	dir, logDir := aCase(t)
	out := filepath.Join(t.TempDir(), "capsules")
	for _, content := range []string{"version=1\n", "version=9\n", "version=1\n"} {
		from := copyTree(t, dir)
		require.NoError(t, os.WriteFile(filepath.Join(from, filepath.Base(logDir), "meta.properties"), []byte(content), 0o600))
		code, stdout, _ := simrun(t, "run", "--from", from, "--out", out)
		require.Equal(t, 1, code, stdout)
	}
	entries, err := os.ReadDir(out)
	require.NoError(t, err)
	require.Len(t, entries, 2)
}
