package nodet

import (
	"go/ast"
	"go/types"
	"strings"
)

// hashedMethods mark a type whose fields are hashed or persisted.
var hashedMethods = []string{"AppendState", "AppendTo", "Encode", "EncodeTo"}

// encodePrefixes start, in any case, the names of functions that put values into bytes or hashes.
var encodePrefixes = []string{"append", "put", "write", "hash", "mix", "encode"}

// hashedStruct refuses machine-sized fields in a struct that has one of the hashed methods.
func (c *checker) hashedStruct(spec *ast.TypeSpec) {
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	name, ok := c.info.Defs[spec.Name].(*types.TypeName)
	if !ok {
		return
	}
	method := hashedMethod(name.Type())
	if method == "" {
		return
	}
	for _, field := range structure.Fields.List {
		if t := c.info.TypeOf(field.Type); isMachineSized(t, 0) {
			c.report(field.Pos(), ruleInteger, "field of type %s in %s, which has %s: give it a size", t, name.Name(), method)
		}
	}
}

func hashedMethod(t types.Type) string {
	for _, method := range hashedMethods {
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, nil, method)
		if _, ok := obj.(*types.Func); ok {
			return method
		}
	}
	return ""
}

// isMachineSized reports whether t is int, uint or uintptr, or an array, slice, map or struct with one of them in it. It does
// not follow pointers: what a value points to is rarely its own state.
func isMachineSized(t types.Type, depth int) bool {
	if t == nil || depth > 4 {
		return false
	}
	switch under := t.Underlying().(type) {
	case *types.Basic:
		return under.Kind() == types.Int || under.Kind() == types.Uint || under.Kind() == types.Uintptr
	case *types.Array:
		return isMachineSized(under.Elem(), depth+1)
	case *types.Slice:
		return isMachineSized(under.Elem(), depth+1)
	case *types.Map:
		return isMachineSized(under.Key(), depth+1) || isMachineSized(under.Elem(), depth+1)
	case *types.Struct:
		if hashedMethod(t) != "" {
			return false // its own finding
		}
		for field := range under.Fields() {
			if isMachineSized(field.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}

// encodeCall refuses arguments that convert a machine-sized integer on their way into bytes or a hash.
func (c *checker) encodeCall(call *ast.CallExpr, callee *types.Func) {
	if !isEncoder(callee) {
		return
	}
	for _, arg := range call.Args {
		for _, value := range c.values(arg) {
			c.encoded(arg, value, callee)
		}
	}
}

// values returns what an argument can be: itself, or what is ever assigned to the local variable that it names.
func (c *checker) values(arg ast.Expr) []ast.Expr {
	if id, ok := ast.Unparen(arg).(*ast.Ident); ok {
		if assigned, known := c.locals[c.info.ObjectOf(id)]; known {
			return assigned
		}
	}
	return []ast.Expr{arg}
}

// encoded refuses the argument arg of an encoder when value, which it may have, converts a machine-sized integer.
func (c *checker) encoded(arg, value ast.Expr, callee *types.Func) {
	conversion, ok := ast.Unparen(value).(*ast.CallExpr)
	if !ok || len(conversion.Args) != 1 || !c.info.Types[conversion.Fun].IsType() {
		return
	}
	operand := ast.Unparen(conversion.Args[0])
	if tv := c.info.Types[operand]; !isMachineSized(tv.Type, 0) || c.isBounded(operand) {
		return
	}
	if _, toBasic := c.info.TypeOf(conversion).Underlying().(*types.Basic); toBasic {
		c.report(arg.Pos(), ruleInteger, "%s converts an %s on its way into %s: give it a size where it is made",
			types.ExprString(value), c.info.TypeOf(operand), callee.Name())
	}
}

// isEncoder reports whether the function is one of the digest that traces are hashed with, or named like one that encodes
// and takes or belongs to bytes or a hash.
func isEncoder(f *types.Func) bool {
	if f.Pkg() != nil && strings.HasSuffix(f.Pkg().Path(), "sim/digest") {
		return true
	}
	lower := strings.ToLower(f.Name())
	named := false
	for _, prefix := range encodePrefixes {
		named = named || strings.HasPrefix(lower, prefix)
	}
	if !named {
		return false
	}
	if f.Pkg() != nil && f.Pkg().Path() == "encoding/binary" {
		return true
	}
	signature := f.Signature()
	if r := signature.Recv(); r != nil && isHasher(r.Type()) {
		return true
	}
	for param := range signature.Params().Variables() {
		if isBytes(param.Type()) || isHasher(param.Type()) {
			return true
		}
	}
	return false
}

func isBytes(t types.Type) bool {
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	slice, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	basic, ok := slice.Elem().Underlying().(*types.Basic)
	return ok && basic.Kind() == types.Byte
}

// isHasher reports whether t has the method Sum64 or Sum, as hash.Hash and its kin have.
func isHasher(t types.Type) bool {
	for _, method := range []string{"Sum64", "Sum"} {
		obj, _, _ := types.LookupFieldOrMethod(t, true, nil, method)
		if _, ok := obj.(*types.Func); ok {
			return true
		}
	}
	return false
}
