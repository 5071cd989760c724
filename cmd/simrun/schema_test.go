package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/reports/schema"
)

func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, ok := schema.Find(name)
	require.True(t, ok, name)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	url := "urn:kraftsim:schema:" + name
	require.NoError(t, c.AddResource(url, document))
	s, err := c.Compile(url)
	require.NoError(t, err)
	return s
}

func validate(s *jsonschema.Schema, text string) error {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(document)
}

// TestSchemasOfOutput runs the commands of testdata/schema/*.txt; "schema NAME FILE" in them holds a document against its schema, with
// "lines" behind it each line of the file.
func TestSchemasOfOutput(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/schema",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"schema": func(ts *testscript.TestScript, neg bool, args []string) {
				documents := []string{ts.ReadFile(args[1])}
				if len(args) > 2 {
					documents = strings.Split(strings.TrimSpace(documents[0]), "\n")
				}
				s := compiled(t, args[0])
				for i, document := range documents {
					if err := validate(s, document); (err != nil) != neg {
						ts.Fatalf("document %d of %s: %v", i+1, args[1], err)
					}
				}
			},
		},
	})
}

// TestSchemaOfMutants holds a report of mutants that the program wrote against its schema; with KRAFTSIM_MUTANTS set one that it writes
// now, which takes a build.
func TestSchemaOfMutants(t *testing.T) {
	s := compiled(t, "mutants")
	text, err := os.ReadFile("testdata/schema/mutants.json")
	require.NoError(t, err)
	require.NoError(t, validate(s, string(text)))
	if os.Getenv("KRAFTSIM_MUTANTS") == "" {
		return
	}
	text, err = exec.Command("go", "run", ".", "mutants", "KB-01", "--seeds", "100", "--clean-seeds", "5", "--json").Output()
	require.NoError(t, err)
	require.NoError(t, validate(s, string(text)))
}

// A schema that takes anything would prove nothing.
func TestSchemasRefuse(t *testing.T) {
	require.Equal(t, []string{"campaign", "campaigns-compare", "campaigns", "compare", "explain", "mutants", "replay", "run", "verify-fix"}, schema.Names())
	for _, name := range schema.Names() {
		s := compiled(t, name)
		for _, text := range []string{`{}`, `[]`, `{"config":{}}`, `{"type":"trace","event":"1"}`} {
			require.Error(t, validate(s, text), "%s: %s", name, text)
		}
	}
	require.Error(t, validate(compiled(t, "run"), `{"config":{"type":"config","command":"x","engine":"1"},"verdict":{"outcome":"fine"}}`))
	_, ok := schema.Find("nothing")
	require.False(t, ok)
}
