package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Configuration is what a command works with, printed before anything else.
type Configuration struct {
	Type    string `json:"type"`    // "config"
	Command string `json:"command"` // one line that can be pasted
	Engine  string `json:"engine"`
	Plan    string `json:"plan,omitempty"` // summary of the plan
}

// Configure describes a call: the command line with every effective flag, whether given or default. A flag that is zero unless somebody
// sets it, and that nobody set, is not in force.
func Configure(cmd *cobra.Command, args []string, p *plan.Plan) Configuration {
	words := append(strings.Fields(cmd.CommandPath()), args...)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value := f.Value.String()
		if emptied := value == "" && f.Changed && f.DefValue != ""; emptied { // as --db= keeps nothing
			words = append(words, "--"+f.Name, "")
			return
		}
		if f.Name == "help" || f.Hidden || value == "" || value == "false" || value == "[]" {
			return
		}
		if value == f.DefValue && (value == "0" || value == "0s") {
			return
		}
		if f.Value.Type() == "bool" {
			words = append(words, "--"+f.Name)
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok { // what can be pasted, once per value
			for _, item := range list.GetSlice() {
				words = append(words, "--"+f.Name, item)
			}
			return
		}
		words = append(words, "--"+f.Name, value)
	})
	for i, word := range words {
		words[i] = shellWord(word)
	}
	c := Configuration{Type: "config", Command: strings.Join(words, " "), Engine: sim.EngineVersion}
	if p != nil {
		c.Plan = reports.PlanLine(p)
	}
	return c
}

// shellWord quotes a word for a shell when it needs that.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,+@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Print writes the configuration as text.
func (c Configuration) Print(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "$ %s\nengine %s\n", c.Command, c.Engine); err != nil {
		return err
	}
	if c.Plan == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "plan %s\n", c.Plan)
	return err
}

// JSON reports whether the call asks for JSON.
func JSON(cmd *cobra.Command) bool {
	on, err := cmd.Flags().GetBool("json")
	return err == nil && on
}

// PrintJSON writes an indented document.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printLine writes a document as one line.
func printLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// AddSeed declares a flag that takes a 64-bit seed, whose default is what seed points to.
func AddSeed(cmd *cobra.Command, seed *uint64, name, usage string) {
	cmd.Flags().Var((*seedFlag)(seed), name, usage)
}

// seedFlag is a 64-bit seed on the command line.
type seedFlag uint64

func (s *seedFlag) String() string { return strconv.FormatUint(uint64(*s), 10) }
func (s *seedFlag) Type() string   { return "seed" }
func (s *seedFlag) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("%q %s", text, expectations["seed"])
	}
	*s = seedFlag(n)
	return nil
}
