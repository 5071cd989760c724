package quorumstate_test

import (
	"errors"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/raft/internal/golden"
	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/record"
)

const dir = "/data/dir0/__cluster_metadata-0"

// newStore returns a store over a file system with this quorum-state; nil: none.
func newStore(content []byte) (*memfiles.Files, *quorumstate.Store) {
	files := memfiles.New()
	files.WriteFile(dir+"/partition.metadata", nil)
	if content != nil {
		files.WriteFile(dir+"/"+quorumstate.FileName, content)
	}
	return files, quorumstate.NewStore(files, dir)
}

// goldenState is a state in the golden index: absent means none.
type goldenState struct {
	Epoch             int32
	LeaderID, VotedID *int32
	VotedDirectoryID  string
	Voters            []int32
}

func (g *goldenState) state(t *testing.T) quorumstate.State {
	t.Helper()
	s := quorumstate.State{LeaderID: -1, LeaderEpoch: g.Epoch, VotedID: -1, Voters: g.Voters}
	if g.LeaderID != nil {
		s.LeaderID = *g.LeaderID
	}
	if g.VotedID != nil {
		s.VotedID = *g.VotedID
	}
	if g.VotedDirectoryID != "" {
		id, err := record.ParseUUID(g.VotedDirectoryID)
		require.NoError(t, err)
		s.VotedDirectoryID = id
	}
	return s
}

func TestGoldenQuorumState(t *testing.T) {
	var cases []struct {
		File              string
		DataVersion       int16
		Written, ReadBack goldenState
		Result            string
	}
	golden.JSON(t, "quorum-state/index.json", &cases)
	require.NotEmpty(t, cases)
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			content := golden.Read(t, "quorum-state/"+c.File)
			_, store := newStore(content)
			got, found, err := store.Read()
			require.Equal(t, c.Result == "ok", err == nil)
			require.True(t, found)
			want := c.ReadBack.state(t)
			want.Voters = nil
			require.Equal(t, want, got)

			files, store := newStore(nil)
			require.NoError(t, store.Write(c.Written.state(t), c.DataVersion))
			require.Equal(t, string(content), string(files.ReadFile(dir+"/quorum-state")))
		})
	}
}

func TestGoldenQuorumStateReadCases(t *testing.T) {
	var cases []struct {
		File, Result, Message string
		goldenState
	}
	golden.JSON(t, "quorum-state/read-cases.json", &cases)
	require.NotEmpty(t, cases)
	for _, c := range cases {
		t.Run(path.Base(c.File), func(t *testing.T) {
			_, store := newStore(golden.Read(t, "quorum-state/"+c.File))
			got, found, err := store.Read()
			if c.Result != "ok" {
				require.ErrorIs(t, err, quorumstate.ErrInvalid, "Kafka: %s", c.Message)
				require.False(t, found)
				return
			}
			require.NoError(t, err)
			require.True(t, found)
			require.Equal(t, c.state(t), got)
		})
	}
}

func TestNoFile(t *testing.T) {
	_, store := newStore(nil)
	state, found, err := store.Read()
	require.NoError(t, err)
	require.False(t, found)
	require.Zero(t, state)
}

func TestReadErrorIsNotNoFile(t *testing.T) {
	broken := errors.New("broken disk")
	for _, op := range []string{"open", "size", "read", "close"} {
		files, store := newStore([]byte(`{}`))
		files.Hook = func(o, _ string) error {
			if o == op {
				return broken
			}
			return nil
		}
		_, found, err := store.Read()
		require.ErrorIs(t, err, broken, op)
		require.False(t, found)
	}
}

func TestStricterThanJSON(t *testing.T) {
	for name, text := range map[string]string{
		"null":                      `null`,
		"number":                    `5`,
		"keys in another case":      `{"LeaderId":1,"leaderEpoch":5,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}`,
		"leader null":               `{"leaderId":null,"leaderEpoch":5,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}`,
		"leader with an exponent":   `{"leaderId":1e0,"leaderEpoch":5,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}`,
		"directory a number":        `{"leaderId":1,"leaderEpoch":5,"votedId":-1,"votedDirectoryId":5,"data_version":1}`,
		"directory null":            `{"leaderId":1,"leaderEpoch":5,"votedId":-1,"votedDirectoryId":null,"data_version":1}`,
		"voter without id":          `{"clusterId":"","leaderId":1,"leaderEpoch":5,"votedId":-1,"appliedOffset":0,"currentVoters":[{}],"data_version":0}`,
		"voters an object":          `{"clusterId":"","leaderId":1,"leaderEpoch":5,"votedId":-1,"appliedOffset":0,"currentVoters":{},"data_version":0}`,
		"cluster id null":           `{"clusterId":null,"leaderId":1,"leaderEpoch":5,"votedId":-1,"appliedOffset":0,"currentVoters":[],"data_version":0}`,
		"applied offset a fraction": `{"clusterId":"","leaderId":1,"leaderEpoch":5,"votedId":-1,"appliedOffset":0.5,"currentVoters":[],"data_version":0}`,
		"version with a fraction":   `{"leaderId":1,"leaderEpoch":5,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1.0}`,
	} {
		_, err := quorumstate.Parse([]byte(text))
		require.ErrorIs(t, err, quorumstate.ErrInvalid, name)
	}
	_, err := quorumstate.Append(nil, &quorumstate.State{}, 2)
	require.ErrorIs(t, err, quorumstate.ErrInvalid)
}

// TestCrashAnywhere stops a write at each of its operations: the old state or the new one is found, and the new one
// for good once Write has returned.
func TestCrashAnywhere(t *testing.T) {
	stop := errors.New("stop")
	before := quorumstate.State{LeaderID: -1, LeaderEpoch: 3, VotedID: 1}
	after := quorumstate.State{LeaderID: -1, LeaderEpoch: 4, VotedID: 2, VotedDirectoryID: record.UUIDFromHalves(5, 6)}
	for _, power := range []bool{true, false} {
		done := false
		for k := 1; !done; k++ {
			files, store := newStore(nil)
			require.NoError(t, store.Write(before, 0))
			n := 0
			files.Hook = func(string, string) error {
				if n++; n >= k {
					return stop
				}
				return nil
			}
			done = store.Write(after, 1) == nil
			files.Hook = nil
			if power {
				files.Crash()
			} else {
				files.Kill()
			}
			got, found, err := store.Read()
			require.NoError(t, err)
			require.True(t, found)
			if done {
				require.Greater(t, k, 5)
				require.Equal(t, after, got)
			} else {
				require.Contains(t, []quorumstate.State{before, after}, got)
			}
			require.NoError(t, store.Write(before, 1), "a leftover temporary file is no obstacle")
			got, _, err = store.Read()
			require.NoError(t, err)
			require.Equal(t, before, got)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := quorumstate.State{LeaderID: rapid.Int32().Draw(t, "leader"), LeaderEpoch: rapid.Int32().Draw(t, "epoch"),
			VotedID: rapid.Int32().Draw(t, "voted"), Voters: rapid.SliceOfN(rapid.Int32(), 0, 5).Draw(t, "voters")}
		version := rapid.Int16Range(0, 1).Draw(t, "version")
		if version == 1 {
			want.VotedDirectoryID = record.UUIDFromHalves(rapid.Uint64().Draw(t, "high"), rapid.Uint64().Draw(t, "low"))
		}
		text, err := quorumstate.Append(nil, &want, version)
		require.NoError(t, err)
		got, err := quorumstate.Parse(text)
		require.NoError(t, err)
		want.Voters = nil
		require.Equal(t, want, got)
	})
}

// FuzzParse: what parses can be written in version 1 and parses to the same again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"leaderId":1,"leaderEpoch":5,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1} x`))
	f.Add([]byte(`{"clusterId":"","leaderId":1,"leaderEpoch":5,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":1}],"data_version":0}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := quorumstate.Parse(b)
		if err != nil {
			require.ErrorIs(t, err, quorumstate.ErrInvalid)
			return
		}
		text, err := quorumstate.Append(nil, &s, 1)
		require.NoError(t, err)
		again, err := quorumstate.Parse(text)
		require.NoError(t, err)
		require.Equal(t, s, again)
	})
}

// TestOddVersionsAndLines: a data_version below 0 is a number that is no version, not something that counts as 0, and a carriage return ends
// the one line that counts (formats 7).
func TestOddVersionsAndLines(t *testing.T) {
	const state = `"leaderId":-1,"leaderEpoch":2,"votedId":-1,"clusterId":"","appliedOffset":0,"currentVoters":[],"data_version":`
	for text, valid := range map[string]bool{
		"{" + state + "0}":                     true,
		"{" + state + `"x"}`:                   true,
		"{" + state + "-1}":                    false,
		"{" + state + "2}":                     false,
		"{" + state + "0}\rnothing of this":    true,
		"{\r" + state + "0}":                   false,
		"{" + state + "\r0}":                   false,
		"{" + state + "\n0}":                   false,
		"{" + state + "0} and nothing of this": true,
	} {
		_, err := quorumstate.Parse([]byte(text))
		if valid {
			require.NoError(t, err, text)
		} else {
			require.ErrorIs(t, err, quorumstate.ErrInvalid, text)
		}
	}
}
