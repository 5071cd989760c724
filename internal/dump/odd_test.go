package dump_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/internal/dump"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// meddler is a writer before which something happens to the file that is being dumped, once.
type meddler struct {
	bytes.Buffer
	meddle func()
}

func (m *meddler) Write(p []byte) (int, error) {
	if m.meddle != nil {
		m.meddle()
		m.meddle = nil
	}
	return m.Buffer.Write(p)
}

// longLog is a segment whose dump is longer than what is buffered, and that is read in several pieces.
func longLog() (content []byte) {
	for i := range int64(6000) {
		content = append(content, batch(i, 1, 1)...)
	}
	return content
}

// TestFileThatGrows: what is there when the file is opened is dumped, and nothing is wrong with it.
func TestFileThatGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "00000000000000000000.log")
	content := longLog()
	write(t, path, content)
	out := &meddler{meddle: func() { write(t, path, append(content, "not a batch yet"...)) }}
	summary, err := dump.Dump(out, path, dump.Options{})
	require.NoError(t, err)
	require.Equal(t, dump.Summary{Files: 1, Batches: 6000, Records: 6000}, summary)
}

// TestFileThatShrinks: it cannot be read to its end, which is said with the position.
func TestFileThatShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "00000000000000000000.log")
	write(t, path, longLog())
	out := &meddler{meddle: func() { require.NoError(t, os.Truncate(path, 100)) }}
	summary, err := dump.Dump(out, path, dump.Options{})
	require.ErrorIs(t, err, dump.ErrUnreadable)
	require.ErrorContains(t, err, "the file became shorter while it was read")
	require.EqualValues(t, 1, summary.Unreadable)
}

// TestLinksInACircle: a directory is dumped once, under the name that comes first.
func TestLinksInACircle(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "dir0", "00000000000000000000.log"), batch(0, 1, 1))
	require.NoError(t, os.Symlink(root, filepath.Join(root, "loop")))
	require.NoError(t, os.Symlink("dir0", filepath.Join(root, "same")))
	got, summary := text(t, root, dump.Options{})
	require.EqualValues(t, 1, summary.Batches)
	require.Contains(t, got, "loop: link to a directory that is dumped already")
	require.Contains(t, got, "same: link to a directory that is dumped already")
}

// TestGarbageInEveryFile: whatever the files of a node hold, every line is short, JSON is JSON, and text and JSON count alike.
func TestGarbageInEveryFile(t *testing.T) {
	names := []string{"00000000000000000000.log", "00000000000000000000.index", "00000000000000000000.timeindex", "00000000000000000000.txnindex",
		"00000000000000000000.snapshot", "00000000000000000007-0000000002.checkpoint", "leader-epoch-checkpoint", "partition.metadata",
		"quorum-state", "x.log", "y.checkpoint", "00000000000000000000.log.deleted", "junk"}
	rapid.Check(t, func(r *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "") //nolint:usetesting // one for each drawn case
		require.NoError(t, err)
		for _, name := range append([]string{"../meta.properties", "../bootstrap.checkpoint"}, names...) {
			content := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(r, name)
			switch rapid.IntRange(0, 3).Draw(r, "kind") {
			case 0: // one long line
				content = bytes.Repeat([]byte{'a' ^ byte(len(content))}, 1000*len(content))
			case 1: // a length that is as large as can be, behind a sound batch
				content = append(batch(0, 1, 1), append(make([]byte, 8), 0x7f, 0xff, 0xff, 0xff)...)
			}
			write(t, filepath.Join(root, "__cluster_metadata-0", name), content)
		}
		got, a := text(t, root, dump.Options{})
		for line := range strings.Lines(got) {
			require.Less(t, len(line), 2000)
		}
		all, b := lines(t, root, dump.Options{})
		require.NotEmpty(t, all)
		require.Equal(t, a, b)
	})
}
