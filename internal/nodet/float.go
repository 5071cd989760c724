package nodet

import (
	"go/ast"
	"go/constant"
	"go/types"
)

// floatExpr refuses float and complex expressions and types. Of nested ones only the outermost is reported, so that
// one formula gives one finding.
func (c *checker) floatExpr(expr ast.Expr) {
	if !c.isFloat(expr) {
		return
	}
	for n := 1; ; n++ {
		parent, ok := c.parent(n).(ast.Expr)
		if !ok {
			break
		}
		if c.isFloat(parent) {
			return
		}
	}
	c.report(expr.Pos(), ruleFloat, "%s is of type %s: rounding differs between machines; carry bits or integers",
		types.ExprString(expr), c.info.TypeOf(expr))
}

func (c *checker) isFloat(expr ast.Expr) bool {
	tv, ok := c.info.Types[expr]
	if !ok || tv.Type == nil {
		return false
	}
	basic, ok := tv.Type.Underlying().(*types.Basic)
	if !ok || basic.Info()&(types.IsFloat|types.IsComplex) == 0 {
		return false
	}
	if basic.Info()&types.IsUntyped != 0 && tv.Value != nil {
		return constant.ToInt(tv.Value).Kind() != constant.Int
	}
	return true
}
