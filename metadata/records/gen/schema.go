package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// versionRange is LOW to HIGH; open means "and later".
type versionRange struct {
	low, high int
	open      bool
}

func (v versionRange) String() string {
	switch {
	case v.open:
		return fmt.Sprintf("%d+", v.low)
	case v.low == v.high:
		return strconv.Itoa(v.low)
	}
	return fmt.Sprintf("%d-%d", v.low, v.high)
}

// field is one line of a struct.
type field struct {
	name     string
	kind     string // element type without []
	array    bool
	versions versionRange
	null     *versionRange
	tag      int // -1: positional
	preset   string
	nested   *structure
}

// structure is a record or a nested struct.
type structure struct {
	name   string
	fields []field
}

func (s *structure) tagged() []field {
	var out []field
	for _, f := range s.fields {
		if f.tag >= 0 {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b field) int { return a.tag - b.tag })
	return out
}

// record is one entry of the table.
type record struct {
	structure
	key, since int
	versions   versionRange
	meaning    string
}

// scalar says how Go code holds, appends and reads one schema type.
type scalar struct{ goType, appendFunc, readMethod string }

var scalars = map[string]scalar{
	"bool":    {"bool", "record.AppendBool", "Bool"},
	"int8":    {"int8", "record.AppendInt8", "Int8"},
	"int16":   {"int16", "record.AppendInt16", "Int16"},
	"uint16":  {"uint16", "record.AppendUint16", "Uint16"},
	"int32":   {"int32", "record.AppendInt32", "Int32"},
	"int64":   {"int64", "record.AppendInt64", "Int64"},
	"float64": {"Float64Bits", "appendFloat64Bits", "float64Bits"},
	"uuid":    {"record.UUID", "record.AppendUUID", "UUID"},
	"string":  {"string", "record.AppendCompactString", "text"},
	"bytes":   {"[]byte", "record.AppendCompactBytes", "blob"},
}

var nullables = map[string]scalar{
	"string": {"*string", "appendNullableText", "nullableText"},
	"bytes":  {"[]byte", "appendNullableBlob", "nullableBlob"},
}

// parseSchema reads the table. An error names the line.
func parseSchema(text string) ([]record, error) {
	var records []record
	keys, names := map[int]bool{}, map[string]bool{}
	var open []*structure // by depth
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		if depth == 0 {
			r, err := parseRecord(trimmed)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			if keys[r.key] || names[r.name] {
				return nil, fmt.Errorf("line %d: key %d or name %s used twice", i+1, r.key, r.name)
			}
			keys[r.key], names[r.name] = true, true
			records = append(records, r)
			open = []*structure{&records[len(records)-1].structure}
			continue
		}
		if depth > len(open) {
			return nil, fmt.Errorf("line %d: indented too far", i+1)
		}
		f, err := parseField(strings.Fields(trimmed))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		owner := open[depth-1]
		owner.fields = append(owner.fields, f)
		open = open[:depth]
		if f.nested != nil {
			if names[f.kind] {
				return nil, fmt.Errorf("line %d: struct name %s used twice", i+1, f.kind)
			}
			names[f.kind] = true
			open = append(open, f.nested)
		}
	}
	slices.SortFunc(records, func(a, b record) int { return a.key - b.key })
	return records, nil
}

func parseRecord(line string) (record, error) {
	head, meaning, ok := strings.Cut(line, " -- ")
	words := strings.Fields(head)
	if !ok || len(words) < 6 || words[0] != "record" || words[2] != "key" || words[4] != "versions" {
		return record{}, fmt.Errorf("want: record NAME key N versions V [since N] -- MEANING")
	}
	r := record{structure: structure{name: words[1]}, meaning: meaning}
	var err error
	if r.key, err = strconv.Atoi(words[3]); err != nil {
		return record{}, fmt.Errorf("key: %w", err)
	}
	if r.versions, err = parseVersions(words[5]); err != nil {
		return record{}, err
	}
	if rest := words[6:]; len(rest) == 2 && rest[0] == "since" {
		if r.since, err = strconv.Atoi(rest[1]); err != nil {
			return record{}, fmt.Errorf("since: %w", err)
		}
	} else if len(rest) != 0 {
		return record{}, fmt.Errorf("%q not understood", rest)
	}
	return r, nil
}

func parseField(words []string) (field, error) {
	if len(words) < 3 {
		return field{}, fmt.Errorf("want: FIELD TYPE VERSIONS, then options")
	}
	f := field{name: words[0], tag: -1}
	f.kind, f.array = strings.CutPrefix(words[1], "[]")
	if scalars[f.kind].goType == "" {
		if f.kind == strings.ToLower(f.kind) {
			return field{}, fmt.Errorf("type %s unknown", f.kind)
		}
		f.nested = &structure{name: f.kind}
	}
	var err error
	if f.versions, err = parseVersions(words[2]); err != nil {
		return field{}, err
	}
	rest := words[3:]
	for ; len(rest) >= 2; rest = rest[2:] {
		switch rest[0] {
		case "null":
			var v versionRange
			v, err = parseVersions(rest[1])
			f.null = &v
		case "tag":
			f.tag, err = strconv.Atoi(rest[1])
		case "default":
			f.preset = rest[1]
		default:
			err = fmt.Errorf("%q not understood", rest[0])
		}
		if err != nil {
			return field{}, err
		}
	}
	if len(rest) != 0 {
		return field{}, fmt.Errorf("%q has no value", rest[0])
	}
	return f, f.validate()
}

// validate refuses what the templates do not cover, so that a table which parses is a table which is generated right.
func (f field) validate() error {
	pointer := f.array || f.kind == "string" || f.kind == "bytes" || f.nested != nil
	if f.null != nil && !pointer {
		return fmt.Errorf("%s: a %s cannot be null", f.name, f.kind)
	}
	if f.preset == "null" && f.null == nil {
		return fmt.Errorf("%s: default null needs null versions", f.name)
	}
	if f.preset != "" && f.preset != "null" && pointer {
		return fmt.Errorf("%s: only scalars have a default other than null", f.name)
	}
	if f.null != nil && f.tag >= 0 && f.preset != "null" {
		return fmt.Errorf("%s: a nullable tagged field needs default null", f.name)
	}
	if f.nested != nil && f.tag >= 0 && !f.array {
		return fmt.Errorf("%s: a tagged struct is not supported yet", f.name)
	}
	return nil
}

func parseVersions(text string) (versionRange, error) {
	if low, ok := strings.CutSuffix(text, "+"); ok {
		n, err := strconv.Atoi(low)
		return versionRange{low: n, open: true}, err
	}
	low, high, ok := strings.Cut(text, "-")
	if !ok {
		high = low
	}
	a, err := strconv.Atoi(low)
	if err != nil {
		return versionRange{}, fmt.Errorf("versions: %w", err)
	}
	b, err := strconv.Atoi(high)
	if err != nil {
		return versionRange{}, fmt.Errorf("versions: %w", err)
	}
	if b < a {
		return versionRange{}, fmt.Errorf("versions %s run backwards", text)
	}
	return versionRange{low: a, high: b}, nil
}
