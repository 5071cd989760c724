package nodet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// rangeStmt refuses ranges over maps and channels, and remembers the keys of the others for rule integer.
func (c *checker) rangeStmt(loop *ast.RangeStmt) {
	if loop.Tok == token.ASSIGN {
		c.globalWrite(loop.Key)
		c.globalWrite(loop.Value)
	}
	t := c.info.TypeOf(loop.X)
	if t == nil {
		return
	}
	switch coreType(t).(type) {
	case *types.Map:
		if !c.collectedAndSorted(loop) {
			c.report(loop.Pos(), ruleMapRange, "range over a map: collect the keys and sort them at once")
		}
	case *types.Chan:
		c.report(loop.Pos(), ruleChannel, "range over a channel")
	case *types.Slice, *types.Array, *types.Pointer, *types.Basic:
		if id, ok := loop.Key.(*ast.Ident); ok {
			if obj := c.info.Defs[id]; obj != nil {
				c.rangeKeys[obj] = true
			}
		}
	}
}

// coreType returns the underlying type, and for a type parameter the one that all types of its constraint share.
func coreType(t types.Type) types.Type {
	param, ok := types.Unalias(t).(*types.TypeParam)
	if !ok {
		return t.Underlying()
	}
	iface, ok := param.Constraint().Underlying().(*types.Interface)
	if !ok {
		return t.Underlying()
	}
	for embedded := range iface.EmbeddedTypes() {
		if union, ok := embedded.(*types.Union); ok && union.Len() > 0 {
			return union.Term(0).Type().Underlying()
		}
		if _, ok := embedded.Underlying().(*types.Interface); !ok {
			return embedded.Underlying()
		}
	}
	return t.Underlying()
}

// collectedAndSorted recognises the one accepted form: a body that only appends to a slice, and a sort of that slice
// as the next statement of the same block.
func (c *checker) collectedAndSorted(loop *ast.RangeStmt) bool {
	slice := c.onlyAppends(loop)
	if slice == "" {
		return false
	}
	next := c.statementAfter(loop)
	stmt, ok := next.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := stmt.X.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || !c.isSort(call) {
		return false
	}
	sorted := false
	ast.Inspect(call.Args[0], func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && types.ExprString(e) == slice {
			sorted = true
		}
		return !sorted
	})
	return sorted
}

// onlyAppends returns the text of x when the body is `x = append(x, e)`, alone or under one if without else, and
// nothing in it calls a function; else "".
func (c *checker) onlyAppends(loop *ast.RangeStmt) string {
	if len(loop.Body.List) != 1 {
		return ""
	}
	stmt := loop.Body.List[0]
	if branch, ok := stmt.(*ast.IfStmt); ok {
		if branch.Init != nil || branch.Else != nil || len(branch.Body.List) != 1 || c.calls(branch.Cond) {
			return ""
		}
		stmt = branch.Body.List[0]
	}
	assign, ok := stmt.(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return ""
	}
	call, ok := assign.Rhs[0].(*ast.CallExpr)
	if !ok || len(call.Args) != 2 || call.Ellipsis.IsValid() {
		return ""
	}
	if id, ok := call.Fun.(*ast.Ident); !ok || c.info.Uses[id] != types.Universe.Lookup("append") {
		return ""
	}
	slice := types.ExprString(assign.Lhs[0])
	if types.ExprString(call.Args[0]) != slice || c.calls(call.Args[1]) {
		return ""
	}
	return slice
}

// calls reports whether the expression calls anything but a conversion or len.
func (c *checker) calls(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return !found
		}
		if tv := c.info.Types[call.Fun]; tv.IsType() {
			return !found
		}
		if id, ok := call.Fun.(*ast.Ident); ok && c.info.Uses[id] == types.Universe.Lookup("len") {
			return !found
		}
		found = true
		return false
	})
	return found
}

// isSort reports whether the call sorts its first argument, of basic values. A sort that compares with a function does not
// count: what it finds equal stays in the order of the map.
func (c *checker) isSort(call *ast.CallExpr) bool {
	callee := c.callee(call)
	if callee == nil || callee.Pkg() == nil {
		return false
	}
	switch callee.Pkg().Path() {
	case "slices":
		return callee.Name() == "Sort"
	case "sort":
		return containsWord("Ints Strings", callee.Name())
	}
	return false
}

// statementAfter returns the statement that follows the visited one in its block, or nil.
func (c *checker) statementAfter(stmt ast.Stmt) ast.Stmt {
	parent := c.parent(1)
	if labeled, ok := parent.(*ast.LabeledStmt); ok {
		stmt, parent = labeled, c.parent(2)
	}
	var list []ast.Stmt
	switch block := parent.(type) {
	case *ast.BlockStmt:
		list = block.List
	case *ast.CaseClause:
		list = block.Body
	}
	for i := range list {
		if list[i] == stmt && i+1 < len(list) {
			return list[i+1]
		}
	}
	return nil
}

// mapIterator refuses the iterators of package maps, except right inside slices.Sorted, whose elements are basic, and the
// functions of that package that call a function for each element.
func (c *checker) mapIterator(id *ast.Ident) {
	if containsWord("DeleteFunc EqualFunc", id.Name) {
		c.report(id.Pos(), ruleMapRange, "maps.%s: it calls its function in the order of the map", id.Name)
	}
	if !containsWord("All Keys Values", id.Name) {
		return
	}
	// The path upwards: identifier, selector maps.Keys, call maps.Keys(m), call slices.Sorted(...).
	if outer, ok := c.parent(3).(*ast.CallExpr); ok && id.Name != "All" {
		callee := c.callee(outer)
		if callee != nil && callee.Pkg() != nil && callee.Pkg().Path() == "slices" && callee.Name() == "Sorted" {
			return
		}
	}
	c.report(id.Pos(), ruleMapRange, "maps.%s: sort its elements at once with slices.Sorted", id.Name)
}
