package room

import (
	"fmt"
	"io/fs"
	"net"       // want `\[os\] import of net: `
	"os"        // want `\[os\] import of os: `
	"os/signal" // want `\[os\] import of os/signal: `
	"path"
	"path/filepath" // want `\[os\] import of path/filepath: `
	"runtime"       // want `\[os\] import of runtime: `
	"syscall"
)

func host() {
	_, _ = os.Hostname()
	_ = net.IPv4len
	signal.Reset()
	runtime.Gosched()
	_ = filepath.Separator
	_ = syscall.Getpid() // want `\[os\] syscall.Getpid: `
	_ = syscall.Stdin    // want `\[os\] syscall.Stdin: `
	println("x")         // want `\[os\] println: `
	print("x")           // want `\[os\] print: `
	fmt.Println("x")     // want `\[os\] fmt.Println: `
	_, _ = fmt.Scanln()  // want `\[os\] fmt.Scanln: `
	_ = fmt.Sprintln("x")
}

func portable(err error) bool {
	return err == fs.ErrNotExist || err == syscall.EIO || syscall.EIO.Timeout() || path.Base("a/b") == "b"
}
