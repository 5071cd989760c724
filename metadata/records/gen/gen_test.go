package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The committed code is what the table says, and no generated file is left over from an earlier table.
func TestGeneratedCodeIsFresh(t *testing.T) {
	text, err := os.ReadFile("../schema.txt")
	require.NoError(t, err)
	records, err := parseSchema(string(text))
	require.NoError(t, err)
	want, err := generate(records)
	require.NoError(t, err)
	present, err := filepath.Glob("../*.go")
	require.NoError(t, err)
	generated := 0
	for _, path := range present {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		if !strings.HasPrefix(string(content), "// Code generated") {
			continue
		}
		generated++
		require.Equal(t, string(want[filepath.Base(path)]), string(content), "%s is stale: go generate ./metadata/records", path)
	}
	require.Equal(t, len(want), generated)
}

func TestSchemaErrorsNameTheLine(t *testing.T) {
	const head = "record R key 1 versions 0-2 -- a thing\n"
	for text, say := range map[string]string{
		"record R key x versions 0 -- a":               "line 1: key",
		"record R key 1 versions 0":                    "line 1: want: record",
		"record R key 1 versions 2-1 -- a":             "run backwards",
		"record R key 1 versions 0 x -- a":             "not understood",
		head + head:                                    "line 2: key 1 or name R used twice",
		head + "  A int99 0+":                          "line 2: type int99 unknown",
		head + "  A int8":                              "line 2: want: FIELD",
		head + "  A int8 0+ null 0+":                   "cannot be null",
		head + "  A string 0+ default null":            "needs null versions",
		head + "  A string 0+ default x":               "only scalars",
		head + "  A string 0+ tag":                     "has no value",
		head + "    A string 0+":                       "line 2: indented too far",
		head + "  A string 0+ null 0+ tag 1":           "needs default null",
		head + "  A []X 0+\n    B int8 0+\n  C []X 0+": "line 4: struct name X used twice",
		head + "  A X 0+ tag 1":                        "not supported yet",
	} {
		_, err := parseSchema(text)
		require.ErrorContains(t, err, say, text)
	}
}

// What no record uses yet still generates: nested and nullable structs, nullable bytes, closed version ranges, defaults.
func TestGeneratorCoversTheWholeLanguage(t *testing.T) {
	records, err := parseSchema(`record R key 1 versions 0-3 since 9 -- a thing
  One Inner 1-2 null 1-2
    Deep Other 0+
      Id uuid 0+
  Blob bytes 0+ null 2+
  Names []string 0+ null 3+
  Level int16 2+ tag 4 default -7
  On bool 0+ tag 2 default true
  Id uuid 0+ tag 3
  Text string 0+ tag 9
`)
	require.NoError(t, err)
	files, err := generate(records)
	require.NoError(t, err)
	code := string(files["r.go"])
	for _, want := range []string{
		"*Inner", "Deep", "if version >= 1 && version <= 2 {", "m.One.appendTo(dst, version)", "if !m.On {",
		"if (m.Id != record.UUID{}) {", "version < 2 && m.Blob == nil", "if version >= 2 && m.Level != -7 {",
		"func (m *R) Since() int16 { return 9 }",
	} {
		require.Contains(t, code, want)
	}
	require.Less(t, strings.Index(code, "appendUnknown(dst, unknown, 2)"), strings.Index(code, "appendUnknown(dst, unknown, 9)"))
}

func TestGeneratedJSONIsFresh(t *testing.T) {
	text, err := os.ReadFile("../schema.txt")
	require.NoError(t, err)
	records, err := parseSchema(string(text))
	require.NoError(t, err)
	want, err := generateJSON(records)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(jsonFile)))
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "%s is stale: go generate ./metadata/records", jsonFile)
}

// Nested and nullable structs, which no record uses yet, have their JSON too.
func TestJSONCoversTheWholeLanguage(t *testing.T) {
	records, err := parseSchema(`record R key 1 versions 0-3 -- a thing
  One Inner 1-2 null 1-2
    Deep Other 0+
      Id uuid 0+
  Blob bytes 0+ null 2+
  Text string 0+ null 0+ tag 9 default null
`)
	require.NoError(t, err)
	code, err := generateJSON(records)
	require.NoError(t, err)
	for _, want := range []string{
		"if version >= 1 && version <= 2 {", "dst = appendInner(dst, m.One, version)", "dst = appendOther(dst, &m.Deep, version)",
		"nested += unknownOther(&m.Deep)", "if m.Blob == nil {", "AppendString(dst, *m.Text)",
	} {
		require.Contains(t, string(code), want)
	}
}
