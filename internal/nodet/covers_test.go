package nodet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCovers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	plain := write("plain.go", "package p\n")
	room := write("room.go", "//nodet:room\n\npackage p\n\nvar broken = \n")
	test := write("room_test.go", "//nodet:room\n\npackage p\n")
	for _, c := range []struct {
		rooms, path, name string
		files             []string
		want              bool
	}{
		{"", Module + "/raft", "raft", nil, true},
		{"", "example.com/mine", "mine", []string{plain}, false},
		{"example.com/mine/...", "example.com/mine/inner", "inner", []string{plain}, true},
		{"example.com/other", "example.com/mine", "mine", []string{plain}, false},
		{"example.com/other", Module + "/raft", "raft", nil, false},
		{"", "example.com/mine", "mine", []string{plain, room}, true},
		{"", "example.com/mine", "mine", []string{test, filepath.Join(dir, "none.go")}, false},
		{"example.com/mine", "example.com/mine", "main", []string{room}, false},
	} {
		require.Equal(t, c.want, Covers(c.rooms, c.path, c.name, c.files), "%+v", c)
	}
}
