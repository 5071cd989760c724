package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// clean is the clean program in pieces: its packages as the go tool has compiled them. A mutant that changes the inside of one function
// needs one package compiled and the program linked again, a tenth of the work of a build, in which each package that imports the changed
// one is compiled anew. Whether that is enough is not argued: the linker compares what each package was compiled against with what it
// is given (the fingerprint of the export data), and refuses. Then the mutant is built in the ordinary way. The pieces are compiled without
// inlining, since the body of a function that can be inlined is part of what others are compiled against.
type clean struct {
	version  string // of the go tool, as the compiler wants it
	language string // of the module, "go1.26"
	order    []*compiled
}

// compiled is one package of the program.
type compiled struct {
	ImportPath string
	Dir        string
	Export     string // file with the compiled package
	GoFiles    []string
	EmbedFiles []string
	SFiles     []string
	CgoFiles   []string
	Module     *struct{ GoVersion string }
}

// plain reports whether the compiler needs nothing but the Go files.
func (c *compiled) plain() bool {
	return c.Module != nil && len(c.EmbedFiles)+len(c.SFiles)+len(c.CgoFiles) == 0
}

// errWhole says that a patch needs an ordinary build.
var errWhole = errors.New("mutants: the whole program has to be built")

// pieces compiles the clean program, as far as the cache of the go tool does not have it, and says where its packages are.
func pieces(ctx context.Context, root string) (*clean, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-gcflags="+modulePath+"/...=-l",
		"-json=ImportPath,Dir,Export,GoFiles,EmbedFiles,SFiles,CgoFiles,Module", "./cmd/simrun")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("mutants: go list: %w", err)
	}
	version := exec.CommandContext(ctx, "go", "env", "GOVERSION")
	version.Dir = root
	name, err := version.Output()
	if err != nil {
		return nil, fmt.Errorf("mutants: go env: %w", err)
	}
	c := &clean{version: strings.TrimSpace(string(name))}
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &compiled{}
		if err := list.Decode(p); errors.Is(err, io.EOF) {
			return c, nil
		} else if err != nil {
			return nil, fmt.Errorf("mutants: go list: %w", err)
		}
		if p.ImportPath == modulePath+"/cmd/simrun" && p.Module != nil {
			c.language = "go" + twoNumbers(p.Module.GoVersion)
		}
		c.order = append(c.order, p)
	}
}

// twoNumbers shortens a version: "1.26.8" to "1.26".
func twoNumbers(version string) string {
	words := strings.SplitN(version, ".", 3)
	return strings.Join(words[:min(2, len(words))], ".")
}

// link makes the program of a patch in dir out of the clean one's packages and those that the patch touches. errWhole says that it can't.
func (c *clean) link(ctx context.Context, p *Patch, root, dir string) (string, error) {
	sources, err := p.applyInPlace(root)
	if err != nil {
		return "", err
	}
	replaced := map[string]string{} // by path of the source: where the patched one is
	for name, text := range sources {
		to := filepath.Join(dir, "lines", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return "", fmt.Errorf("mutants: %w", err)
		}
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("mutants: %w", err)
		}
		replaced[filepath.Join(root, filepath.FromSlash(name))] = to
	}
	exports := map[string]string{}
	var main string
	for _, pkg := range c.order {
		exports[pkg.ImportPath] = pkg.Export
		if file, touched := pkg.touched(replaced); touched {
			if !pkg.plain() || file == "" {
				return "", errWhole
			}
			if exports[pkg.ImportPath], err = c.compile(ctx, pkg, replaced, exports, dir); err != nil {
				return "", err
			}
		}
		main = exports[pkg.ImportPath] // the program comes last
	}
	config := filepath.Join(dir, "link.cfg")
	if err := c.list(config, exports); err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "simrun")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if text, err := exec.CommandContext(ctx, "go", "tool", "link", "-o", binary, "-importcfg", config, "-buildmode=exe", "-s", "-w", main).
		CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", errWhole, firstLines(string(text), 2))
	}
	return binary, nil
}

// touched reports whether a file of the package is replaced, and names one.
func (c *compiled) touched(replaced map[string]string) (file string, touched bool) {
	for _, name := range c.GoFiles {
		if to := replaced[filepath.Join(c.Dir, name)]; to != "" {
			return to, true
		}
	}
	return "", false
}

// compile compiles one package against those before it. The patched files go by the names of those that they replace, since names of
// files are part of what other packages were compiled against.
func (c *clean) compile(ctx context.Context, pkg *compiled, replaced, exports map[string]string, dir string) (string, error) {
	base := strings.ReplaceAll(pkg.ImportPath, "/", "_")
	object, config := filepath.Join(dir, base+".a"), filepath.Join(dir, base+".cfg")
	if err := c.list(config, exports); err != nil {
		return "", err
	}
	var names, files []string
	for _, name := range pkg.GoFiles {
		file := filepath.Join(pkg.Dir, name)
		if to := replaced[file]; to != "" {
			names = append(names, to+"=>"+file)
			file = to
		}
		files = append(files, file)
	}
	args := []string{"tool", "compile", "-o", object, "-trimpath", strings.Join(names, ";"), "-p", pkg.ImportPath, "-lang=" + c.language,
		"-l", "-complete", "-goversion", c.version, "-nolocalimports", "-importcfg", config, "-pack"}
	if text, err := exec.CommandContext(ctx, "go", append(args, files...)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", errWhole, firstLines(string(text), 2))
	}
	return object, nil
}

// list writes a list of compiled packages as compiler and linker read it.
func (c *clean) list(file string, exports map[string]string) error {
	var b strings.Builder
	for _, pkg := range c.order {
		if to := exports[pkg.ImportPath]; to != "" {
			fmt.Fprintf(&b, "packagefile %s=%s\n", pkg.ImportPath, to)
		}
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("mutants: %w", err)
	}
	return nil
}
