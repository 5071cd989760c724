package nodet

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
)

// formatCall refuses calls of package fmt that would print an address.
func (c *checker) formatCall(call *ast.CallExpr, callee *types.Func) {
	if callee.Pkg() == nil || callee.Pkg().Path() != "fmt" || call.Ellipsis.IsValid() {
		return
	}
	name := callee.Name()
	skip := 0 // arguments before the operands
	if strings.HasPrefix(name, "Fprint") || strings.HasPrefix(name, "Append") {
		skip = 1
	}
	switch {
	case strings.HasPrefix(strings.TrimPrefix(name, "F"), "Scan"), strings.HasPrefix(name, "Sscan"),
		callee.Signature().Recv() != nil, name == "FormatString":
		return
	case strings.HasSuffix(name, "f"):
		c.formatted(call, skip)
	default:
		for _, arg := range call.Args[min(skip, len(call.Args)):] {
			c.operand(arg, 'v')
		}
	}
}

// formatted checks the operands of a call whose argument number at is a format.
func (c *checker) formatted(call *ast.CallExpr, at int) {
	if at >= len(call.Args) {
		return
	}
	operands := call.Args[at+1:]
	value := c.info.Types[call.Args[at]].Value
	if value == nil || value.Kind() != constant.String {
		for _, arg := range operands {
			c.operand(arg, 'v')
		}
		return
	}
	verbs := verbsOf(constant.StringVal(value))
	for i, arg := range operands {
		verb := 'v' // of an operand that the list does not reach
		if i < len(verbs) {
			verb = verbs[i]
		}
		c.operand(arg, verb)
	}
}

// verbsOf returns the verb of each operand of a format in order, '*' for a width. An explicit operand index ends the list.
func verbsOf(format string) []rune {
	var verbs []rune
	inVerb := false
	for _, r := range format {
		switch {
		case !inVerb:
			inVerb = r == '%'
		case r == '%':
			inVerb = false
		case r == '[':
			return verbs
		case r == '*':
			verbs = append(verbs, r)
		case strings.ContainsRune("+-# 0123456789.", r):
		default:
			verbs = append(verbs, r)
			inVerb = false
		}
	}
	return verbs
}

func (c *checker) operand(arg ast.Expr, verb rune) {
	t := c.info.TypeOf(arg)
	if t == nil || verb == 'T' || verb == '*' {
		return
	}
	if verb == 'p' {
		c.report(arg.Pos(), rulePointer, "%%p prints an address")
		return
	}
	if printsAddress(t, true, 0) {
		c.report(arg.Pos(), rulePointer, "formatting a %s prints an address or depends on one", t)
	}
}

// printsAddress reports whether formatting a value of static type t can print an address. Maps count as well: the
// order in which fmt prints them is defined for basic keys only. What an interface holds is not visible here. Package
// fmt calls the methods of a value only where it is reached through exported fields.
func printsAddress(t types.Type, exported bool, depth int) bool {
	if depth > 8 || exported && formatsItself(t) {
		return false
	}
	switch under := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return true
	case *types.Basic:
		return under.Kind() == types.UnsafePointer
	case *types.Slice:
		return printsAddress(under.Elem(), exported, depth+1)
	case *types.Array:
		return printsAddress(under.Elem(), exported, depth+1)
	case *types.Struct:
		for field := range under.Fields() {
			if printsAddress(field.Type(), exported && field.Exported(), depth+1) {
				return true
			}
		}
	}
	return false
}

// formatsItself reports whether t has a method that package fmt calls instead of walking the value.
func formatsItself(t types.Type) bool {
	for _, method := range []string{"Error", "String", "Format"} {
		obj, _, _ := types.LookupFieldOrMethod(t, false, nil, method)
		if _, ok := obj.(*types.Func); ok {
			return true
		}
	}
	return false
}
