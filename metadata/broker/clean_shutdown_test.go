package broker

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/files/filestest"
)

// TestCleanShutdownFile: what one incarnation leaves the next one takes, once.
func TestCleanShutdownFile(t *testing.T) {
	both := []string{"/d1", "/d2"}
	m := filestest.NewMemory()
	require.NoError(t, m.MkdirAll("/d1"))
	require.NoError(t, m.MkdirAll("/d2"))
	require.EqualValues(t, -1, TakeCleanShutdown(m, both, both), "nobody was there")
	LeaveCleanShutdown(m, both, 42)
	require.Equal(t, `{"version":0,"brokerEpoch":42}`, string(m.Content["/d1/.kafka_cleanshutdown"]))
	require.EqualValues(t, 42, TakeCleanShutdown(m, both, both))
	require.Empty(t, m.Names())
	require.EqualValues(t, -1, TakeCleanShutdown(m, both, both))

	LeaveCleanShutdown(m, both, 7)
	require.EqualValues(t, -1, TakeCleanShutdown(m, both, both[:1]), "a directory is not there")
	LeaveCleanShutdown(m, both[:1], 8)
	m.Put("/d2/.kafka_cleanshutdown", `{"version":0,"brokerEpoch":9}`)
	require.EqualValues(t, -1, TakeCleanShutdown(m, both, both), "two epochs")
	LeaveCleanShutdown(m, both[:1], 8)
	require.EqualValues(t, -1, TakeCleanShutdown(m, both, both), "one of them has none")
	require.Empty(t, m.Names())

	LeaveCleanShutdown(m, both, 10)
	m.Refuse["/d2/.kafka_cleanshutdown"] = errors.New("bad sector")
	require.EqualValues(t, -1, TakeCleanShutdown(m, both, both))
	LeaveCleanShutdown(m, both, 11) // the other one gets it all the same
	require.Contains(t, string(m.Content["/d1/.kafka_cleanshutdown"]), "11")
}

// TestCleanShutdownContent: what is no epoch is none.
func TestCleanShutdownContent(t *testing.T) {
	for text, want := range map[string]int64{
		`{"version":0,"brokerEpoch":5}`: 5, ` { "brokerEpoch" : 5 , "version" : 0 } `: 5, `{"version":0}`: -1, ``: -1, `{}`: -1, `{"brokerEpoch":"5"}`: -1,
		`{"brokerEpoch":-1}`: -1, `{"brokerEpoch":99999999999999999999}`: -1, `"brokerEpoch":5`: -1, `{"brokerEpoch":5`: -1,
	} {
		require.Equal(t, want, parseCleanShutdown(text), text)
	}
}

// FuzzCleanShutdownContent: no content makes trouble, and what is found is written again as it was.
func FuzzCleanShutdownContent(f *testing.F) {
	f.Add(`{"version":0,"brokerEpoch":5}`)
	f.Add(`{`)
	f.Fuzz(func(t *testing.T, text string) {
		epoch := parseCleanShutdown(text)
		if epoch < 0 {
			require.EqualValues(t, -1, epoch)
			return
		}
		m := filestest.NewMemory()
		require.NoError(t, m.MkdirAll("/d"))
		LeaveCleanShutdown(m, []string{"/d"}, epoch)
		require.Equal(t, epoch, TakeCleanShutdown(m, []string{"/d"}, []string{"/d"}))
	})
}
