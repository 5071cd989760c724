// Command gen writes the Go code of package records, and of package recordjson beside it, from schema.txt. Run it with
// `go generate` in the directory of package records; a test in this package fails when the committed code is not what
// the table says.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// jsonFile is the generated file of package recordjson, seen from the directory of package records.
const jsonFile = "../recordjson/records.go"

// run generates into dir, which holds schema.txt, and into recordjson beside it.
func run(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "schema.txt"))
	if err != nil {
		return err
	}
	records, err := parseSchema(string(text))
	if err != nil {
		return fmt.Errorf("schema.txt: %w", err)
	}
	files, err := generate(records)
	if err != nil {
		return err
	}
	if files[jsonFile], err = generateJSON(records); err != nil {
		return fmt.Errorf("%s: %w", jsonFile, err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
