// Only this file of the package is part of a room.

//nodet:room

package partly

func inside(f func()) {
	go f() // want `\[goroutine\] go statement`
}
