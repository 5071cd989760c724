// Command gen writes the Go code of package records from its schema.txt. Run it with `go generate` in that directory;
// a test in this package fails when the committed code is not what the table says.
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

// run generates into dir, which holds schema.txt.
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
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
