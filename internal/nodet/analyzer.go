package nodet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Analyzer is the determinism analyzer. It needs no facts and no other analyzer, so any driver can run it. Its flag
// -rooms replaces the built-in room list by a comma separated list of import paths (a trailing "/..." takes the tree).
var Analyzer = &analysis.Analyzer{
	Name: "nodet",
	Doc:  "refuse sources of nondeterminism in the deterministic rooms",
	URL:  "https://pkg.go.dev/github.com/kraftsim/kraftsim/internal/nodet",
	Run:  run,
}

var roomsFlag string

func init() {
	Analyzer.Flags.StringVar(&roomsFlag, "rooms", "", "comma separated import paths that replace the built-in room list")
}

// The names of the rules, as they appear in findings and in directives.
const (
	ruleGoroutine = "goroutine"
	ruleSelect    = "select"
	ruleChannel   = "channel"
	ruleClock     = "clock"
	ruleRandom    = "random"
	ruleRecover   = "recover"
	ruleFloat     = "float"
	ruleInteger   = "integer"
	ruleSort      = "sort"
	ruleSync      = "sync"
	ruleMaphash   = "maphash"
	rulePointer   = "pointer"
	ruleGlobal    = "global"
	ruleOS        = "os"
	ruleMapRange  = "maprange"
	ruleDirective = "directive"
)

// liftable are the rules that a directive may name; ruleDirective is not among them.
var liftable = []string{
	ruleGoroutine, ruleSelect, ruleChannel, ruleClock, ruleRandom, ruleRecover, ruleFloat, ruleInteger, ruleSort,
	ruleSync, ruleMaphash, rulePointer, ruleGlobal, ruleOS, ruleMapRange,
}

// checker walks one file of a room.
type checker struct {
	pass       *analysis.Pass
	info       *types.Info
	directives *directives
	stack      []ast.Node // the path from the file to the node being visited, inclusive
	rangeKeys  map[types.Object]bool
	locals     locals
	writers    writers
}

func run(pass *analysis.Pass) (any, error) {
	if pass.Pkg.Name() == "main" {
		return nil, nil
	}
	wholePackage := IsRoom(pass.Pkg.Path())
	if roomsFlag != "" {
		wholePackage = matches(roomsFlag, pass.Pkg.Path())
	}
	changing := collectWriters(pass.TypesInfo, pass.Files)
	for _, file := range pass.Files {
		name := pass.Fset.Position(file.FileStart).Filename
		if strings.HasSuffix(name, "_test.go") || !wholePackage && !isRoomFile(file) {
			continue
		}
		c := &checker{
			pass:       pass,
			info:       pass.TypesInfo,
			directives: parseDirectives(pass.Fset, file, wholePackage),
			rangeKeys:  map[types.Object]bool{},
			locals:     collectLocals(pass.TypesInfo, file),
			writers:    changing,
		}
		c.walk(file)
		c.directives.complain(func(at token.Pos, message string) {
			pass.Reportf(at, "[%s] %s", ruleDirective, message)
		})
	}
	return nil, nil
}

// report files a finding unless a directive at its line lifts the rule.
func (c *checker) report(at token.Pos, rule, format string, args ...any) {
	if c.directives.lifts(c.pass.Fset.Position(at).Line, rule) {
		return
	}
	c.pass.Reportf(at, "[%s] %s", rule, fmt.Sprintf(format, args...))
}

// walk visits every node of the file once, parents first, and hands it to the rules.
func (c *checker) walk(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			c.stack = c.stack[:len(c.stack)-1]
			return true
		}
		c.stack = append(c.stack, n)
		c.visit(n)
		return true
	})
}

func (c *checker) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.ImportSpec:
		c.importSpec(n)
	case *ast.GoStmt:
		c.report(n.Pos(), ruleGoroutine, "go statement: concurrency belongs to the world's scheduler")
	case *ast.SelectStmt:
		c.report(n.Pos(), ruleSelect, "select statement: the runtime picks a ready case at random")
	case *ast.SendStmt:
		c.report(n.Arrow, ruleChannel, "channel send")
	case *ast.ChanType:
		c.report(n.Pos(), ruleChannel, "channel type")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			c.report(n.OpPos, ruleChannel, "channel receive")
		}
	case *ast.RangeStmt:
		c.rangeStmt(n)
	case *ast.AssignStmt:
		for _, target := range n.Lhs {
			c.globalWrite(target)
		}
	case *ast.IncDecStmt:
		c.globalWrite(n.X)
	case *ast.CallExpr:
		c.call(n)
	case *ast.Ident:
		c.object(n)
	case *ast.TypeSpec:
		c.hashedStruct(n)
	}
	if expr, ok := n.(ast.Expr); ok {
		c.floatExpr(expr)
	}
}

// parent returns the n-th ancestor of the node being visited (1 is its parent), nil above the file.
func (c *checker) parent(n int) ast.Node {
	if i := len(c.stack) - 1 - n; i >= 0 {
		return c.stack[i]
	}
	return nil
}

// call hands a call to the rules that look at calls.
func (c *checker) call(call *ast.CallExpr) {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := c.info.Uses[id].(*types.Builtin); ok {
			c.builtinCall(call, b.Name())
			return
		}
	}
	callee := c.callee(call)
	if callee == nil {
		return
	}
	c.formatCall(call, callee)
	c.encodeCall(call, callee)
	c.globalCall(call, callee)
}

func (c *checker) builtinCall(call *ast.CallExpr, name string) {
	switch name {
	case "recover":
		c.report(call.Pos(), ruleRecover, "recover: a panic is a defect and must reach the world")
	case "close":
		c.report(call.Pos(), ruleChannel, "channel close")
	case "print", "println":
		c.report(call.Pos(), ruleOS, "%s: it uses the files of the process, and prints addresses", name)
	case "delete", "clear", "copy":
		if len(call.Args) > 0 {
			c.globalWrite(call.Args[0])
		}
	}
}

// callee returns the function or method that the call names, or nil for a conversion, builtin or function value.
func (c *checker) callee(call *ast.CallExpr) *types.Func { return calleeOf(c.info, call) }

func calleeOf(info *types.Info, call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	var id *ast.Ident
	switch f := fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return nil
	}
	callee, _ := info.Uses[id].(*types.Func)
	if callee != nil {
		callee = callee.Origin() // of a generic function, whatever it is called with
	}
	return callee
}
