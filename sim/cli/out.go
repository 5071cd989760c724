package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kraftsim/kraftsim/sim/outfile"
)

// errUnwritten ends the program with ExitInternal: the command did its work and reported it, and could not keep all of it.
type errUnwritten struct{ what string }

func (e *errUnwritten) Error() string { return e.what }

// Unwritten makes an error that ends the program with ExitInternal: what could not be written, by the name that the call gave it.
func Unwritten(name string, err error) error {
	return &errUnwritten{name + ": cannot be written: " + reason(err)}
}

// checkFolder tries to write into a folder, which need not exist yet, and leaves nothing behind.
func checkFolder(dir string) (err error) {
	var made []string // deepest first
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || !errors.Is(err, os.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	defer func() {
		for _, name := range made {
			_ = os.Remove(name) // only what was made above can be empty and go
		}
	}()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cause(err)
	}
	outfile.RemoveLeftovers(dir, "writable")
	f, err := os.CreateTemp(dir, outfile.Unfinished("writable"))
	if err != nil {
		return cause(err)
	}
	_, err = f.WriteString("x")
	return cause(errors.Join(err, f.Close(), os.Remove(f.Name())))
}

// checkFile tries to write a file's neighbour.
func checkFile(file string) error {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return errors.New("is a folder: name a file")
	}
	return checkFolder(filepath.Dir(file))
}

// cause drops operation and path of a file error, which the message names already.
func cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// checkOut refuses a folder for capsules that was asked for and can't be written. The default one may be where nobody can
// write: then the run is worth more than its capsule.
func checkOut(dir string, asked bool) error {
	if !asked || dir == "" {
		return nil
	}
	return CheckFolder("--out", dir)
}

// CheckOut refuses the folder of a flag --out that cannot be written. "" writes nothing.
func CheckOut(dir string) error { return checkOut(dir, true) }

// CheckFolder refuses a folder, named by a flag, that cannot be written. It leaves nothing behind.
func CheckFolder(flag, dir string) error {
	if err := checkFolder(dir); err != nil {
		return Usagef("%s %s: cannot be written: %w", flag, shellWord(dir), err)
	}
	return nil
}

// plain takes the names of packages out of a message for people.
func plain(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, name := range []string{"cli: ", "campaign: ", "ledger: bad input: ", "ledger: ", "explore: ", "plan: bad input: ", "plan: ", "sim: ", "scenarios: "} {
		text = strings.ReplaceAll(": "+text, ": "+name, ": ")[2:]
	}
	return text
}

// notWritten is the line about a capsule that could not be kept.
func notWritten(err error) string { return fmt.Sprintf("capsule not written: %s", plain(err.Error())) }
