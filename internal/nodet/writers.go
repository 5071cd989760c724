package nodet

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// writers knows, for each function of a package, the parameters through which it changes what its caller sees: it assigns
// through the pointer, into the slice or map, or hands the parameter to another function of the package that does.
type writers map[*types.Func][]bool // by position; the receiver, if there is one, comes first

// changers start the names of methods of other packages that change their receiver: hashes, builders, buffers, lists.
var changers = []string{
	"Write", "Set", "Add", "Push", "Pop", "Reset", "Grow", "Read", "Next", "Seed", "Put", "Append", "Insert", "Remove",
	"Delete", "Clear", "Store", "Swap", "Move", "Truncate", "Init",
}

// flow is one call inside a function: argument from of the callee starts at parameter to of the caller.
type flow struct {
	caller, callee *types.Func
	from, to       int
}

// collectWriters reads every function of the package and follows calls until nothing changes.
func collectWriters(info *types.Info, files []*ast.File) writers {
	w := writers{}
	var flows []flow
	for _, file := range files {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if named, ok := info.Defs[f.Name].(*types.Func); ok {
				flows = append(flows, w.read(info, named, f.Body)...)
			}
		}
	}
	for changed := true; changed; { // ends: each round but the last sets one of finitely many entries
		changed = false
		for _, fl := range flows {
			if own := w[fl.caller]; w.changes(fl.callee, fl.from) && !own[fl.to] {
				own[fl.to], changed = true, true
			}
		}
	}
	return w
}

// changes reports whether the function is known to change what its parameter at refers to.
func (w writers) changes(f *types.Func, at int) bool { return at < len(w[f]) && w[f][at] }

// read enters what the body itself changes, and returns its calls that pass a parameter on.
func (w writers) read(info *types.Info, f *types.Func, body *ast.BlockStmt) []flow {
	position := map[types.Object]int{}
	for i, p := range parameters(f.Signature()) {
		position[p] = i
	}
	own := make([]bool, len(position))
	w[f] = own
	at := func(e ast.Expr) (int, bool) {
		id := baseOf(info, e)
		if id == nil {
			return 0, false
		}
		i, ok := position[info.Uses[id]]
		return i, ok
	}
	write := func(target ast.Expr) {
		if _, bare := ast.Unparen(target).(*ast.Ident); bare {
			return // the parameter itself is set: the caller sees nothing
		}
		if i, ok := at(target); ok && follows(info, target) {
			own[i] = true
		}
	}
	var flows []flow
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, target := range n.Lhs {
				write(target)
			}
		case *ast.IncDecStmt:
			write(n.X)
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && containsWord("delete clear copy", id.Name) {
				write(&ast.StarExpr{X: n.Args[0]}) // the builtins; a function of that name is no concern of a room
			}
			callee := calleeOf(info, n)
			for i, arg := range arguments(n, callee) {
				if to, ok := at(arg); ok && callee != nil {
					flows = append(flows, flow{f, callee, i, to})
				}
			}
		}
		return true
	})
	return flows
}

// parameters returns the receiver, if there is one, and the parameters.
func parameters(s *types.Signature) []*types.Var {
	var all []*types.Var
	if r := s.Recv(); r != nil {
		all = append(all, r)
	}
	for p := range s.Params().Variables() {
		all = append(all, p)
	}
	return all
}

// arguments returns the expressions of a call in the order of [parameters], with the address operator taken off.
func arguments(call *ast.CallExpr, callee *types.Func) []ast.Expr {
	var all []ast.Expr
	if callee != nil && callee.Signature().Recv() != nil {
		if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			all = append(all, s.X)
		}
	}
	for _, arg := range call.Args {
		if address, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && address.Op == token.AND {
			arg = address.X
		}
		all = append(all, arg)
	}
	return all
}

// follows reports whether the way to what an assignment sets leads through a pointer, slice or map, so that a copy of the
// variable at its beginning leads there too.
func follows(info *types.Info, target ast.Expr) bool {
	for {
		var of ast.Expr
		switch x := ast.Unparen(target).(type) {
		case *ast.StarExpr:
			return true
		case *ast.IndexExpr:
			of = x.X
		case *ast.SliceExpr:
			of = x.X
		case *ast.SelectorExpr:
			of = x.X
		default:
			return false
		}
		if t := info.TypeOf(of); t != nil {
			switch t.Underlying().(type) {
			case *types.Pointer, *types.Slice, *types.Map:
				return true
			}
		}
		target = of
	}
}

// globalCall refuses a call that hands a package-level variable to a function that changes it: one of this package of which
// that is known, or a method of another package whose name says so.
func (c *checker) globalCall(call *ast.CallExpr, callee *types.Func) {
	foreign := callee.Pkg() != c.pass.Pkg
	for i, arg := range arguments(call, callee) {
		if foreign && (i > 0 || callee.Signature().Recv() == nil) {
			return
		}
		if variable := c.global(arg); variable == nil || c.inInit() {
			continue
		} else if foreign && changesReceiver(callee) || c.writers.changes(callee, i) {
			c.report(arg.Pos(), ruleGlobal, "%s changes package-level variable %s: state belongs to the run",
				callee.Name(), variable.Name())
		}
	}
}

// changesReceiver reports whether a method of another package changes its receiver, as far as its name says.
func changesReceiver(method *types.Func) bool {
	t := method.Signature().Recv().Type().Underlying()
	if _, byValue := t.(*types.Struct); byValue {
		return false
	}
	for _, word := range changers {
		if strings.HasPrefix(method.Name(), word) {
			return true
		}
	}
	return false
}
