package room

import "excluded"

var (
	total int64
	table = map[string]int32{}
	state struct{ epoch int32 }
	list  []int32
	ready = fill()
)

func fill() bool { return true }

func init() {
	total = 1
	table["x"] = 1
}

func globals(local map[string]int32) {
	total++               // want `\[global\] write to package-level variable total`
	total = 3             // want `\[global\] write to package-level variable total`
	table["y"] = 2        // want `\[global\] write to package-level variable table`
	delete(table, "y")    // want `\[global\] write to package-level variable table`
	state.epoch = 1       // want `\[global\] write to package-level variable state`
	list[0] = 1           // want `\[global\] write to package-level variable list`
	excluded.Count = 1    // want `\[global\] write to package-level variable Count`
	for total = range 3 { // want `\[global\] write to package-level variable total`
	}

	local["x"] = table["x"]
	total := total
	total++
	_ = &state
}
