package nodet

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"
)

// refusedImport is a package that no room may import; tree refuses the packages below it too.
type refusedImport struct {
	path string
	tree bool
	rule string
	why  string
}

var refusedImports = []refusedImport{
	{path: "math/rand", tree: true, rule: ruleRandom, why: "randomness comes from named decisions"},
	{path: "crypto/rand", rule: ruleRandom, why: "randomness comes from named decisions"},
	{path: "sync", tree: true, rule: ruleSync, why: "a room runs on one goroutine and reuses its own buffers"},
	{path: "hash/maphash", rule: ruleMaphash, why: "its seed differs in each process"},
	{path: "unsafe", rule: rulePointer, why: "addresses differ between runs"},
	{path: "os", tree: true, rule: ruleOS, why: "files and environment come from the host"},
	{path: "net", tree: true, rule: ruleOS, why: "the network comes from the host"},
	{path: "runtime", tree: true, rule: ruleOS, why: "the state of the Go runtime differs between runs"},
	{path: "plugin", rule: ruleOS, why: "code is linked before the run"},
	{path: "testing", tree: true, rule: ruleOS, why: "product code holds no test hooks"},
	{path: "context", rule: ruleClock, why: "deadlines come from the event, cancellation needs goroutines"},
	{path: "log", tree: true, rule: ruleClock, why: "it stamps the wall clock; protocol events go to the observer"},
}

func (c *checker) importSpec(spec *ast.ImportSpec) {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return
	}
	for _, refused := range refusedImports {
		if path == refused.path || refused.tree && strings.HasPrefix(path, refused.path+"/") {
			c.report(spec.Pos(), refused.rule, "import of %s: %s", path, refused.why)
			return
		}
	}
}

// refusedObject is a function, method, type or constant of an otherwise harmless package.
type refusedObject struct {
	pkg   string
	names string // separated by spaces
	rule  string
	why   string
}

var refusedObjects = []refusedObject{
	{"time", "Now Since Until Sleep After AfterFunc Tick NewTimer NewTicker Timer Ticker", ruleClock,
		"time is passed in with the event"},
	{"time", "Local LoadLocation", ruleClock, "time zones come from the machine"},
	{"iter", "Pull Pull2", ruleGoroutine, "it runs the iterator on a coroutine"},
	{"github.com/google/uuid", "New NewString NewRandom NewUUID NewV6 NewV7 NewDCEGroup NewDCEPerson NewDCESecurity",
		ruleRandom, "an id is a named decision"},
	{"github.com/google/uuid", "NodeID GetTime SetNodeID SetNodeInterface SetRand EnableRandPool ClockSequence",
		ruleRandom, "it depends on the machine or on global state"},
	{"sort", "Sort Slice", ruleSort, "unstable; use sort.Stable or sort.SliceStable"},
	{"slices", "SortFunc", ruleSort, "unstable; use slices.SortStableFunc"},
	{"slices", "SortedFunc", ruleSort, "unstable; use slices.SortedStableFunc"},
	{"encoding/binary", "NativeEndian", ruleInteger, "bytes would differ between architectures"},
	{"math/bits", "UintSize", ruleInteger, "it differs between architectures"},
	{"strconv", "IntSize", ruleInteger, "it differs between architectures"},
	{"reflect", "MapKeys MapRange", ruleMapRange, "the order differs between runs"},
	{"reflect", "Pointer UnsafePointer UnsafeAddr Select", rulePointer, "addresses differ between runs"},
}

// object checks what an identifier refers to, wherever it stands: called, assigned, or passed on as a value.
func (c *checker) object(id *ast.Ident) {
	obj := c.info.Uses[id]
	if obj == nil {
		return
	}
	if obj == types.Universe.Lookup("uintptr") {
		c.report(id.Pos(), rulePointer, "uintptr: addresses differ between runs")
		return
	}
	if obj.Pkg() == nil {
		return
	}
	path := obj.Pkg().Path()
	if path == "maps" {
		c.mapIterator(id)
		return
	}
	for i := range refusedObjects {
		refused := &refusedObjects[i]
		if path == refused.pkg && containsWord(refused.names, id.Name) && !isField(obj) {
			c.report(id.Pos(), refused.rule, "%s.%s: %s", obj.Pkg().Name(), id.Name, refused.why)
			return
		}
	}
}

func containsWord(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

func isField(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && v.IsField()
}
