package osfiles

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/stretchr/testify/require"
)

var _ files.Locker = (*Disk)(nil)

const holdEnv = "OSFILES_TEST_HOLD"

// TestMain is also the second process, which takes a lock and keeps it until its standard input ends.
func TestMain(m *testing.M) {
	name := os.Getenv(holdEnv)
	if name == "" {
		os.Exit(m.Run())
	}
	disk := New()
	if taken, err := disk.Lock(name); err != nil || !taken {
		os.Exit(1)
	}
	os.Stdout.WriteString("locked\n")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	runtime.KeepAlive(disk) // whose files are closed when it is collected
}

// A lock keeps other processes out until its own ends, however it ends, and asking for it makes no file.
func TestLock(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("locks are for Linux and macOS")
	}
	name := filepath.ToSlash(t.TempDir()) + "/dir0/.lock"
	disk := New()
	held, err := disk.LockedElsewhere(name)
	require.NoError(t, err)
	require.False(t, held)
	require.NoDirExists(t, filepath.Dir(name))

	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), holdEnv+"="+name)
	in, err := other.StdinPipe()
	require.NoError(t, err)
	out, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "locked\n", line)
	held, err = disk.LockedElsewhere(name)
	require.NoError(t, err)
	require.True(t, held)
	taken, err := disk.Lock(name)
	require.NoError(t, err)
	require.False(t, taken)

	require.NoError(t, other.Process.Kill())
	require.Error(t, other.Wait())
	in.Close()
	held, err = disk.LockedElsewhere(name)
	require.NoError(t, err)
	require.False(t, held)
	for range 2 {
		taken, err = disk.Lock(name)
		require.NoError(t, err)
		require.True(t, taken)
	}
	require.FileExists(t, name)
	held, err = disk.LockedElsewhere(name)
	require.NoError(t, err)
	require.False(t, held, "by this one")
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Empty(t, content)
}
