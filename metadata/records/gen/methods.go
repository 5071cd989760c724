package main

import (
	"fmt"
	"strings"
)

// methods writes check, appendTo and decode of s and of what is nested in it.
func (e *emitter) methods(s *structure) {
	e.check(s)
	e.appendTo(s)
	e.decode(s)
	for _, f := range s.fields {
		if f.nested != nil {
			e.methods(f.nested)
		}
	}
}

func (e *emitter) check(s *structure) {
	e.line("func (m *%s) check(version int16) error {", s.name)
	for _, f := range s.fields {
		label := s.name + "." + f.name
		if absent := e.outside(f.versions); absent != "" {
			e.line("if %s && %s {\nreturn errAbsent(%q, version)\n}", absent, negatable(f.nonDefault()), label)
		}
		if f.null != nil {
			if e.outside(*f.null) != "" && f.null.low > f.versions.low {
				e.line("if version >= %d && version < %d && m.%s == nil {\nreturn errNotNullable(%q, version)\n}",
					f.versions.low, f.null.low, f.name, label)
			}
		}
		e.checkContent(f, label)
	}
	tags := make([]string, 0, len(s.fields))
	for _, f := range s.tagged() {
		tags = append(tags, fmt.Sprint(f.tag))
	}
	arguments := append([]string{fmt.Sprintf("%q, m.UnknownTags", s.name)}, tags...)
	e.line("return checkTags(%s)\n}\n", strings.Join(arguments, ", "))
}

func negatable(condition string) string {
	if strings.Contains(condition, "{}") {
		return "(" + condition + ")"
	}
	return condition
}

func (e *emitter) checkContent(f field, label string) {
	failed := "; err != nil {\nreturn err\n}"
	switch {
	case f.nested != nil && f.array:
		e.line("for i := range m.%s {\nif err := m.%s[i].check(version)%s\n}", f.name, f.name, failed)
	case f.nested != nil && f.null != nil:
		e.line("if m.%s != nil {\nif err := m.%s.check(version)%s\n}", f.name, f.name, failed)
	case f.nested != nil:
		e.line("if err := m.%s.check(version)%s", f.name, failed)
	case f.kind == "string" && f.array:
		e.line("for i := range m.%s {\nif err := checkString(%q, m.%s[i])%s\n}", f.name, label, f.name, failed)
	case f.kind == "string" && f.null != nil:
		e.line("if m.%s != nil {\nif err := checkString(%q, *m.%s)%s\n}", f.name, label, f.name, failed)
	case f.kind == "string":
		e.line("if err := checkString(%q, m.%s)%s", label, f.name, failed)
	}
}

func (e *emitter) appendTo(s *structure) {
	e.line("func (m *%s) appendTo(dst []byte, version int16) []byte {", s.name)
	for _, f := range s.fields {
		if f.tag < 0 {
			e.guarded(e.within(f.versions), func() { e.appendField(f) })
		}
	}
	tagged := s.tagged()
	if len(tagged) == 0 {
		e.line("dst = record.AppendUvarint(dst, uint32(len(m.UnknownTags)))")
		e.line("dst, _ = appendUnknown(dst, m.UnknownTags, allTags)\nreturn dst\n}\n")
		return
	}
	e.line("count := uint32(len(m.UnknownTags))")
	for _, f := range tagged {
		e.line("if %s {\ncount++\n}", e.present(f))
	}
	e.line("dst = record.AppendUvarint(dst, count)\nunknown := m.UnknownTags")
	for _, f := range tagged {
		e.line("if %s {", e.present(f))
		e.line("dst, unknown = appendUnknown(dst, unknown, %d)", f.tag)
		e.line("dst = record.AppendUvarint(dst, %d)\nstart := len(dst)", f.tag)
		e.appendField(f)
		e.line("dst = closeTag(dst, start)\n}")
	}
	e.line("dst, _ = appendUnknown(dst, unknown, allTags)\nreturn dst\n}\n")
}

// present is the condition under which a tagged field takes space.
func (e *emitter) present(f field) string {
	if within := e.within(f.versions); within != "" {
		return within + " && " + negatable(f.nonDefault())
	}
	return negatable(f.nonDefault())
}

func (e *emitter) guarded(condition string, body func()) {
	if condition == "" {
		body()
		return
	}
	e.line("if %s {", condition)
	body()
	e.line("}")
}

func (e *emitter) appendField(f field) {
	name := "m." + f.name
	switch {
	case f.array:
		if f.null != nil {
			e.line("if %s == nil {\ndst = append(dst, 0)\n} else {", name)
		}
		e.line("dst = appendLength(dst, int32(len(%s)))\nfor i := range %s {", name, name)
		if f.nested != nil {
			e.line("dst = %s[i].appendTo(dst, version)\n}", name)
		} else {
			e.line("dst = %s(dst, %s[i])\n}", scalars[f.kind].appendFunc, name)
		}
		if f.null != nil {
			e.line("}")
		}
	case f.nested != nil && f.null != nil: // a nullable struct starts with one byte: -1 null, 1 present
		e.line("if %s == nil {\ndst = record.AppendInt8(dst, -1)\n} else {\ndst = record.AppendInt8(dst, 1)", name)
		e.line("dst = %s.appendTo(dst, version)\n}", name)
	case f.nested != nil:
		e.line("dst = %s.appendTo(dst, version)", name)
	case f.null != nil:
		e.line("dst = %s(dst, %s)", nullables[f.kind].appendFunc, name)
	default:
		e.line("dst = %s(dst, %s)", scalars[f.kind].appendFunc, name)
	}
}

func (e *emitter) decode(s *structure) {
	e.line("func (m *%s) decode(r *reader, version int16) {", s.name)
	for _, f := range s.fields {
		if f.tag < 0 {
			e.guarded(e.within(f.versions), func() { e.decodeField(f) })
		}
	}
	e.line("for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {\ntag, size := r.Uvarint(), r.Uvarint()")
	tagged := s.tagged()
	if len(tagged) == 0 {
		e.line("m.UnknownTags = r.unknownTag(m.UnknownTags, tag, size)\n}\n}\n")
		return
	}
	e.line("switch tag {")
	for _, f := range tagged {
		e.line("case %d:", f.tag)
		if absent := e.outside(f.versions); absent != "" {
			e.line("if %s {\nr.Fail(errTagVersion)\nreturn\n}", strings.Trim(absent, "()"))
		}
		e.decodeField(f)
	}
	e.line("default:\nm.UnknownTags = r.unknownTag(m.UnknownTags, tag, size)\n}\n}\n}\n")
}

func (e *emitter) decodeField(f field) {
	name := "m." + f.name
	switch {
	case f.array:
		nullable := "false"
		if f.null != nil {
			nullable = "true"
			if within := e.within(*f.null); within != "" {
				nullable = within
			}
		}
		e.line("%s = nil", name)
		e.line("if n := r.arrayLength(%s); n >= 0 {", nullable)
		e.line("%s = make([]%s, 0, n)", name, f.element())
		e.line("for ; n > 0 && r.Err() == nil; n-- {")
		if f.nested != nil {
			e.line("%s = append(%s, %s{})\n%s[len(%s)-1].decode(r, version)", name, name, f.kind, name, name)
		} else {
			e.line("%s = append(%s, r.%s())", name, name, scalars[f.kind].readMethod)
		}
		e.line("}\n}")
	case f.nested != nil && f.null != nil:
		e.line("if r.Int8() >= 0 && r.Err() == nil {\n%s = &%s{}\n%s.decode(r, version)\n}", name, f.kind, name)
	case f.nested != nil:
		e.line("%s.decode(r, version)", name)
	case f.null != nil:
		e.line("%s = r.%s()", name, nullables[f.kind].readMethod)
	default:
		e.line("%s = r.%s()", name, scalars[f.kind].readMethod)
	}
}
