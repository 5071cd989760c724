package cli_test

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// init lets a test binary that is run as the program find the disk full: no file may grow over so many bytes.
func init() {
	size, err := strconv.ParseUint(os.Getenv("KRAFTSIM_TEST_FSIZE"), 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ) // the write fails, as one to a full disk
	limit := syscall.Rlimit{Cur: size, Max: size}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
}
