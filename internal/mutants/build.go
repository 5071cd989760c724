package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kraftsim/kraftsim/sim/cli"
)

const modulePath = "github.com/kraftsim/kraftsim"

// FindRoot returns the root of kraftsim's module at or above dir. Mutants are built from source, so without it, or without
// the go tool, there is nothing to run: a usage error.
func FindRoot(dir string) (string, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", cli.Usagef("mutants are built from source, and there is no go tool on the path")
	}
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("mutants: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			if strings.HasPrefix(string(text), "module "+modulePath+"\n") {
				return dir, nil
			}
		}
		if dir == filepath.Dir(dir) {
			return "", cli.Usagef("mutants are built from source, and %s is not inside of the module %s", start, modulePath)
		}
	}
}

// build builds the program into dir, with the overlay unless that is empty.
func build(ctx context.Context, root, overlay, dir string) (string, error) {
	binary := filepath.Join(dir, "simrun")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", binary} // no debug data: linking is half of the time
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/simrun")...)
	cmd.Dir = root
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("go build: %w: %s", err, firstLines(output.String(), 4))
	}
	return binary, nil
}

// firstLines returns the first n lines as one.
func firstLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[:min(n, len(lines))], "; ")
}

// product is a patch with the binary that was built from it.
type product struct {
	patch  *Patch // nil: the clean build
	dir    string
	binary string
	err    error // it does not apply (ErrPatch) or does not build
}

// make applies and builds, with the pieces of the clean program where there are any and they fit.
func (x *product) make(ctx context.Context, root string, c *clean) {
	overlay := ""
	if x.patch != nil {
		if overlay, x.err = x.patch.overlay(root, x.dir); x.err != nil {
			return
		}
		if c != nil {
			if x.binary, x.err = c.link(ctx, x.patch, root, x.dir); !errors.Is(x.err, errWhole) {
				return
			}
		}
	}
	x.binary, x.err = build(ctx, root, overlay, x.dir)
}
