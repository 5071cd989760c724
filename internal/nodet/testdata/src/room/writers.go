package room

import (
	"bytes"
	"strings"
)

type tallier struct {
	n      int64
	byName map[string]int64
	inner  struct{ list []int32 }
}

func (c *tallier) add()               { c.n++ }
func (c *tallier) addTwice()          { c.add(); c.add() }
func (c tallier) named(name string)   { c.byName[name]++ }
func (c tallier) vain()               { c.n++ } // of a copy
func (c *tallier) value() int64       { return c.n }
func (c *tallier) replaced() *tallier { c = &tallier{}; return c }
func (c *tallier) forget()            { clear(c.byName) }
func put(into []int32, v int32)       { into[0] = v }
func putDeep(c *tallier, v int32)     { put(c.inner.list, v) }
func first[T any](of []T, v T)        { of[0] = v }

var (
	tally  tallier
	shared = &tallier{}
	slots  []int32
	text   strings.Builder
	bytes1 = bytes.NewBufferString("")
	sep    = strings.NewReplacer("a", "b")
)

func init() { tally.add() }

func writes(own *tallier) string {
	tally.add()         // want `\[global\] add changes package-level variable tally`
	shared.addTwice()   // want `\[global\] addTwice changes package-level variable shared`
	tally.named("x")    // want `\[global\] named changes package-level variable tally`
	tally.forget()      // want `\[global\] forget changes package-level variable tally`
	put(slots, 1)       // want `\[global\] put changes package-level variable slots`
	putDeep(&tally, 1)  // want `\[global\] putDeep changes package-level variable tally`
	first(slots, 1)     // want `\[global\] first changes package-level variable slots`
	text.WriteByte('x') // want `\[global\] WriteByte changes package-level variable text`
	bytes1.Reset()      // want `\[global\] Reset changes package-level variable bytes1`

	tally.vain()
	_ = tally.value()
	_ = shared.replaced()
	own.add()
	put(own.inner.list, 2)
	return sep.Replace("a") + text.String()
}
