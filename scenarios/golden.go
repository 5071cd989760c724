package scenarios

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/kraftsim/kraftsim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// goldenRoot is where the directories that Kafka wrote lie in the binary.
const goldenRoot = "testdata/golden/formatted"

// goldenNames lists the cases, ascending.
func goldenNames() (names []string) {
	entries, err := fs.ReadDir(kraftsim.Formatted, goldenRoot)
	if err != nil {
		panic("scenarios: the golden directories are not in the binary: " + err.Error())
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// goldenTree is the storage of a case.
func goldenTree(name string) (fs.FS, error) {
	for _, have := range goldenNames() {
		if have == name {
			return fs.Sub(kraftsim.Formatted, path.Join(goldenRoot, name))
		}
	}
	return nil, fmt.Errorf("golden case %q is not there: the cases are %s", name, strings.Join(goldenNames(), ", "))
}

// fillGolden gives a plan the cluster of a case.
func (d dice) fillGolden(p *plan.Plan, name string) error {
	tree, err := goldenTree(name)
	if err != nil {
		return err
	}
	_, err = d.fillFrom(p, tree, "golden:"+name, FromOptions{Where: path.Join(goldenRoot, name), newest: true})
	return err
}

// loadGolden puts the log directories of a case onto a volume, in the order of their names.
func loadGolden(v *vdisk.Volume, name string, dirs []string) error {
	tree, err := goldenTree(name)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := loadTree(tree, path.Base(dir), v, dir); err != nil {
			return err
		}
	}
	return nil
}

// loadTree copies a directory of a file system onto a volume, durably.
func loadTree(f fs.FS, from string, v *vdisk.Volume, to string) error {
	return fs.WalkDir(f, from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(f, name)
		if err != nil {
			return err
		}
		v.Load(to+strings.TrimPrefix(name, from), data)
		return nil
	})
}
