package room

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe" // want `\[pointer\] import of unsafe: `
)

type node struct {
	id   int32
	next *node
}

type named struct{ id int32 }

func (n *named) String() string { return "named" }

type wrapped struct{ hidden *named }

type shown struct{ Shown *named }

func addresses(n *node, m map[string]int32, f func(), s *named) {
	_ = uintptr(unsafe.Pointer(n))                // want `\[pointer\] uintptr: `
	_ = fmt.Sprintf("%p", n)                      // want `\[pointer\] %p prints an address`
	_ = fmt.Sprintf("%d %v", n.id, n)             // want `\[pointer\] formatting a \*room.node prints an address`
	_ = fmt.Sprint(*n)                            // want `\[pointer\] formatting a room.node prints`
	_ = fmt.Errorf("%5.2s: %+v", "x", []*node{n}) // want `\[pointer\] formatting a \[\]\*room.node prints`
	_ = fmt.Sprintln(m)                           // want `\[pointer\] formatting a map\[string\]int32 prints`
	_ = fmt.Appendf(nil, "%*d %v", 3, 4, f)       // want `\[pointer\] formatting a func\(\) prints`
	_ = fmt.Sprintf("%v", wrapped{s})             // want `\[pointer\] formatting a room.wrapped prints`
	_ = fmt.Sprintf("%[2]d %[1]v", n, 3)          // want `\[pointer\] formatting a \*room.node prints`
	_ = reflect.Pointer == reflect.Int
	_ = reflect.ValueOf(n).Pointer()         // want `\[pointer\] reflect.Pointer: `
	for range reflect.ValueOf(m).MapKeys() { // want `\[maprange\] reflect.MapKeys: `
	}

	_ = fmt.Sprintf("%d%% %s %T %v", n.id, s, n, shown{s})
	_ = fmt.Errorf("room: %w", errors.New("x"))
	_ = fmt.Sprint([]int32{1}, "x", [2]string{})
}
