package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/reports/campaignpage"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// campaignFiles are what a campaign writes of its summary beside its output.
type campaignFiles struct {
	html, junit string
	github      bool
}

func (x *campaignFiles) flags(f *pflag.FlagSet) {
	x.documents(f)
	f.BoolVar(&x.github, "github", os.Getenv("GITHUB_ACTIONS") == "true",
		"print annotations for GitHub Actions, and add to the file that GITHUB_STEP_SUMMARY names")
}

// documents are the flags of what a summary can be written as at any time.
func (x *campaignFiles) documents(f *pflag.FlagSet) {
	f.StringVar(&x.html, "html", "", "write the summary as a page to this file: findings, coverage, faults, conditions")
	f.StringVar(&x.junit, "junit", "", "write the summary as JUnit XML to this file")
}

// check refuses what could not be written after hours of runs. What is there and no file, a pipe or a device, is left to write.
func (x *campaignFiles) check() error {
	for _, flag := range []struct{ name, file string }{{"--html", x.html}, {"--junit", x.junit}} {
		if info, err := os.Stat(flag.file); flag.file == "" || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		if err := checkFile(flag.file); err != nil {
			return Usagef("%s %s: cannot be written: %w", flag.name, shellWord(flag.file), err)
		}
	}
	return nil
}

// write writes the files. The first that cannot be written ends the program; those before it are whole.
func (x *campaignFiles) write(a *App, cmd *cobra.Command, s *campaign.Summary, command string) error {
	if x.html != "" {
		p := &campaignpage.Page{Summary: s, Command: command, Link: linkFrom(x.html)}
		if err := writeWhole(x.html, func(w io.Writer) error { return campaignpage.Write(w, p) }); err != nil {
			return err
		}
	}
	if x.junit != "" {
		if err := writeWhole(x.junit, func(w io.Writer) error { return reports.JUnit(w, s) }); err != nil {
			return err
		}
	}
	if !JSON(cmd) {
		for _, line := range []struct{ what, file string }{{"page", x.html}, {"JUnit", x.junit}} {
			if line.file != "" {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", line.what, line.file)
			}
		}
	}
	if !x.github {
		return nil
	}
	// The runner reads commands in both streams, and programs read a document on the first.
	if err := reports.GitHubAnnotations(a.Stderr, s); err != nil {
		return err
	}
	if file := os.Getenv("GITHUB_STEP_SUMMARY"); file != "" {
		return appendWhole(file, func(w io.Writer) error { return reports.GitHubSummary(w, s, command) })
	}
	return nil
}

// linkFrom makes links that lead from a page to other files, relative, so that the folder that has them all can be moved.
func linkFrom(page string) func(file string) string {
	folder, err := filepath.Abs(filepath.Dir(page))
	return func(file string) string {
		to, wrong := filepath.Abs(file)
		if err != nil || wrong != nil {
			return ""
		}
		link, wrong := filepath.Rel(folder, to)
		if wrong != nil {
			return ""
		}
		return filepath.ToSlash(link)
	}
}

// appendWhole adds to the end of a file, all or nothing: what could not be written whole is cut off again.
func appendWhole(file string, write func(w io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	problem := func(err error) error {
		return &errUnwritten{fmt.Sprintf("%s: cannot be written: %s", shellWord(file), reason(err))}
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK, 0o644) // of a pipe that nobody reads: an error at once
	if err != nil {
		return problem(err)
	}
	before, err := f.Stat()
	if err == nil {
		if _, err = f.Write(b.Bytes()); err != nil {
			_ = f.Truncate(before.Size()) // what is told below is the first error
		}
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return problem(err)
	}
	return nil
}
