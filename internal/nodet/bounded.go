package nodet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// locals knows, for each local variable of a file, every expression that is ever assigned to it. A variable that is
// also set in a way that this map cannot tell (parameter, several results of one call, address taken) is not in it.
type locals map[types.Object][]ast.Expr

// collectLocals reads the assignments of a file.
func collectLocals(info *types.Info, file *ast.File) locals {
	known := locals{}
	opaque := map[types.Object]bool{}
	assign := func(target ast.Expr, value ast.Expr) {
		id, ok := ast.Unparen(target).(*ast.Ident)
		if !ok {
			return
		}
		if obj := info.ObjectOf(id); obj != nil {
			known[obj] = append(known[obj], value)
			opaque[obj] = opaque[obj] || value == nil
		}
	}
	defined := map[types.Object]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, target := range n.Lhs {
				var value ast.Expr
				if len(n.Rhs) == len(n.Lhs) {
					value = n.Rhs[i]
				}
				assign(target, value)
				if id, ok := target.(*ast.Ident); ok && n.Tok == token.DEFINE && info.Defs[id] != nil {
					defined[info.Defs[id]] = true
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				defined[info.Defs[name]] = true
				if len(n.Values) == len(n.Names) {
					assign(name, n.Values[i])
				} else if len(n.Values) > 0 {
					assign(name, nil)
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				assign(n.Key, nil)
				assign(n.Value, nil)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				assign(n.X, nil)
			}
		}
		return true
	})
	for obj := range known {
		if opaque[obj] || !defined[obj] {
			delete(known, obj)
		}
	}
	return known
}

// isBounded reports whether a machine-sized operand is made of lengths, range indexes and constants only, directly or
// through local variables. Such a value is alike on every machine.
func (c *checker) isBounded(operand ast.Expr) bool {
	return c.bounded(operand, map[types.Object]bool{})
}

func (c *checker) bounded(operand ast.Expr, assumed map[types.Object]bool) bool {
	if c.info.Types[operand].Value != nil {
		return true
	}
	switch e := ast.Unparen(operand).(type) {
	case *ast.BinaryExpr:
		return c.bounded(e.X, assumed) && c.bounded(e.Y, assumed)
	case *ast.Ident:
		obj := c.info.ObjectOf(e)
		if c.rangeKeys[obj] || assumed[obj] {
			return true
		}
		values, known := c.locals[obj]
		if !known {
			return false
		}
		assumed[obj] = true // a value that grows by itself, as in n += n, is as bounded as what it started from
		for _, value := range values {
			if !c.bounded(value, assumed) {
				return false
			}
		}
		return true
	case *ast.CallExpr:
		id, ok := ast.Unparen(e.Fun).(*ast.Ident)
		if !ok {
			return false
		}
		b, ok := c.info.Uses[id].(*types.Builtin)
		if !ok {
			return false
		}
		switch b.Name() {
		case "len", "copy": // not cap: how append grows a slice depends on the machine and on the toolchain
			return true
		case "min", "max":
			for _, arg := range e.Args {
				if !c.bounded(arg, assumed) {
					return false
				}
			}
			return true
		}
	}
	return false
}
