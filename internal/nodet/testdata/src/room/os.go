package room

import (
	"io/fs"
	"net"       // want `\[os\] import of net: `
	"os"        // want `\[os\] import of os: `
	"os/signal" // want `\[os\] import of os/signal: `
	"path"
	"runtime" // want `\[os\] import of runtime: `
	"syscall"
)

func host() {
	_, _ = os.Hostname()
	_ = net.IPv4len
	signal.Reset()
	runtime.Gosched()
}

func portable(err error) bool {
	return err == fs.ErrNotExist || err == syscall.EIO || path.Base("a/b") == "b"
}
