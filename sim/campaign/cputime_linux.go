package campaign

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// userHz is the unit of times in /proc: the kernel's ABI fixes it at a hundredth of a second on every architecture Go has.
const userHz = 100

// cpuTime returns how much processor time a process has used, in user and kernel mode, to a hundredth of a second.
func cpuTime(pid int) (used time.Duration, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The second field is the command in parentheses, in which anything may stand. utime and stime are the 14th and 15th.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, false
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, false
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / userHz, true
}
