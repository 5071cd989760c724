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
	{path: "path/filepath", rule: ruleOS, why: "it follows the host's separator and looks at the host's files; use path"},
	{path: "plugin", rule: ruleOS, why: "code is linked before the run"},
	{path: "C", rule: ruleOS, why: "what C does is not ours to see"},
	{path: "weak", rule: rulePointer, why: "what the garbage collector has taken differs between runs"},
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
	// loose: functions of the package only, not its methods and constants of the same name.
	loose bool
}

var refusedObjects = []refusedObject{
	{"time", "Now Since Until Sleep AfterFunc Tick NewTimer NewTicker Timer Ticker", ruleClock,
		"time is passed in with the event", false},
	{"time", "After", ruleClock, "time is passed in with the event", true},
	{"time", "Local LoadLocation", ruleClock, "time zones come from the machine", false},
	{"time", "Parse", ruleClock, "it takes offsets for the machine's time zone; use time.ParseInLocation", true},
	{"iter", "Pull Pull2", ruleGoroutine, "it runs the iterator on a coroutine", false},
	{"github.com/google/uuid", "New NewString NewRandom NewUUID NewV6 NewV7 NewDCEGroup NewDCEPerson NewDCESecurity",
		ruleRandom, "an id is a named decision", false},
	{"github.com/google/uuid", "NodeID GetTime SetNodeID SetNodeInterface SetRand EnableRandPool ClockSequence",
		ruleRandom, "it depends on the machine or on global state", false},
	{"sort", "Sort Slice", ruleSort, "unstable; use sort.Stable or sort.SliceStable", false},
	{"slices", "SortFunc", ruleSort, "unstable; use slices.SortStableFunc", false},
	{"slices", "SortedFunc", ruleSort, "unstable; use slices.SortedStableFunc", false},
	{"encoding/binary", "NativeEndian", ruleInteger, "bytes would differ between architectures", false},
	{"math/bits", "UintSize", ruleInteger, "it differs between architectures", false},
	{"strconv", "IntSize", ruleInteger, "it differs between architectures", false},
	{"reflect", "MapKeys MapRange Seq Seq2", ruleMapRange, "the order differs between runs", false},
	{"reflect", "Pointer UnsafePointer UnsafeAddr", rulePointer, "addresses differ between runs", false},
	{"reflect", "Select", ruleSelect, "the runtime picks a ready case at random", true},
	{"fmt", "Print Printf Println Scan Scanf Scanln", ruleOS, "it uses the files of the process", true},
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
	switch path {
	case "maps":
		c.mapIterator(id)
		return
	case "time":
		c.localInstant(id, obj)
	case "syscall":
		c.systemCall(id, obj)
	}
	for i := range refusedObjects {
		refused := &refusedObjects[i]
		if path == refused.pkg && containsWord(refused.names, id.Name) && refused.means(obj) {
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

// means reports whether obj, which has a name of the entry, is what the entry speaks of. A field never is, and neither is
// the constant reflect.Pointer, a kind of type.
func (r *refusedObject) means(obj types.Object) bool {
	switch o := obj.(type) {
	case *types.Var:
		return !o.IsField()
	case *types.Const:
		return r.pkg != "reflect"
	case *types.Func:
		return !r.loose || o.Signature().Recv() == nil
	}
	return true
}

// localInstant refuses time.Unix and its kin, which give an instant in the machine's time zone, unless a method that sets
// the zone, or that does not look at it, is called on the instant at once.
func (c *checker) localInstant(id *ast.Ident, obj types.Object) {
	f, ok := obj.(*types.Func)
	if !ok || f.Signature().Recv() != nil || !containsWord("Unix UnixMilli UnixMicro", id.Name) {
		return
	}
	// The path upwards: identifier, selector time.Unix, call time.Unix(s, n), selector of the method.
	if next, ok := c.parent(3).(*ast.SelectorExpr); ok && containsWord("UTC In", next.Sel.Name) {
		return
	}
	c.report(id.Pos(), ruleClock, "time.%s: it gives the machine's time zone; call UTC on it at once", id.Name)
}

// systemCall refuses what package syscall does. Its error numbers are constants like others.
func (c *checker) systemCall(id *ast.Ident, obj types.Object) {
	switch o := obj.(type) {
	case *types.Func:
		if o.Signature().Recv() != nil {
			return
		}
	case *types.Var:
		if o.IsField() {
			return
		}
	default:
		return
	}
	c.report(id.Pos(), ruleOS, "syscall.%s: the system is the host's", id.Name)
}
