package nodet

import (
	"go/ast"
	"go/types"
)

// globalWrite refuses an assignment through target when it starts at a package-level variable, of this package or of
// another one, outside func init. Taking the address of one is not refused: large tables are passed by pointer.
func (c *checker) globalWrite(target ast.Expr) {
	if target == nil {
		return
	}
	if variable := c.global(target); variable != nil && !c.inInit() {
		c.report(target.Pos(), ruleGlobal, "write to package-level variable %s: state belongs to the run", variable.Name())
	}
}

// global returns the package-level variable at which an expression starts, or nil.
func (c *checker) global(e ast.Expr) *types.Var {
	id := baseOf(c.info, e)
	if id == nil {
		return nil
	}
	variable, ok := c.info.Uses[id].(*types.Var)
	if !ok || variable.IsField() || variable.Pkg() == nil || variable.Parent() != variable.Pkg().Scope() {
		return nil
	}
	return variable
}

// baseOf returns the variable at which an assignable expression starts: a for a.b[i].c, pkg.V for (*pkg.V).f.
func baseOf(info *types.Info, e ast.Expr) *ast.Ident {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				if _, isPackage := info.Uses[id].(*types.PkgName); isPackage {
					return x.Sel
				}
			}
			e = x.X
		default:
			return nil
		}
	}
}

// inInit reports whether the visited node belongs to a func init, but not to a function literal inside it, which may
// run later.
func (c *checker) inInit() bool {
	for i := len(c.stack) - 1; i >= 0; i-- {
		switch n := c.stack[i].(type) {
		case *ast.FuncLit:
			return false
		case *ast.FuncDecl:
			return n.Recv == nil && n.Name.Name == "init"
		}
	}
	return false
}
