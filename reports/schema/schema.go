// Package schema holds the JSON Schemas (draft 2020-12) of what the program prints with --json, for programs that read it.
//
// The documents only grow: a field that a schema requires stays, and keeps its type; fields that no schema names may come. So a reader ignores what
// it does not know. The tests of cmd/simrun check real output of the commands against their schemas.
//
//	text, ok := schema.Find("campaign")
//
// Refused: schemas made from the Go types at run time, which would change with the types and so promise nothing.
package schema

import (
	"embed"
	"strings"
)

//go:embed *.schema.json
var files embed.FS

const suffix = ".schema.json"

// Names lists the schemas: campaign, compare, run, replay (of each line), and so on. In alphabetical order.
func Names() (names []string) {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("schema: the embedded files are gone: " + err.Error())
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), suffix))
	}
	return names
}

// Find returns the text of a schema.
func Find(name string) (text []byte, ok bool) {
	text, err := files.ReadFile(name + suffix)
	return text, err == nil
}
