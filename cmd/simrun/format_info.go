package main

import (
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/metadata/osfiles"
	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/cli"
	"github.com/spf13/cobra"
)

// infoReport is the JSON document of format info.
type infoReport struct {
	Config      cli.Configuration `json:"config"`
	Directories []string          `json:"directories"`
	Metadata    string            `json:"metadata"`
	Problems    []string          `json:"problems"`
}

// formatInfoCommand returns `format info`.
func formatInfoCommand() *cobra.Command {
	var file, release string
	cmd := &cobra.Command{
		Use:   "info --config FILE",
		Short: "Say what the log directories of a node hold, and what is wrong with them",
		Long: "Info does what kafka-storage info does: it lists the directories of the configuration, the first meta.properties in them, and\n" +
			"problems: missing, no directory, not formatted, unreadable, ids that differ, files of the time of ZooKeeper. Nothing is written.\n" +
			"Exit code 0 without a problem, 1 with one, 2 when the configuration cannot be read.",
		Example: "  simrun format info --config server.properties\n  simrun format info -c server.properties --json",
		Args:    noArguments,
	}
	cmd.Flags().StringVarP(&file, "config", "c", "", "configuration file of the server, required")
	cmd.Flags().StringVar(&release, "release", "upstream-4.5", "software whose tool this is: "+strings.Join(features.Names(), ", "))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if file == "" {
			return cli.Usagef("--config is missing: name the configuration file of the server")
		}
		r, config, err := readConfig(release, file)
		if err != nil {
			return err
		}
		call := cli.Configure(cmd, nil, nil)
		info := format.Inspect(osfiles.New(), config.Directories, config.Roles, r.MetaProperties)
		if cli.JSON(cmd) {
			err = cli.PrintJSON(cmd.OutOrStdout(), infoReport{Config: call, Directories: append([]string{}, info.Found...),
				Metadata: info.Metadata, Problems: append([]string{}, info.Problems...)})
		} else if err = call.Print(cmd.OutOrStdout()); err == nil {
			err = printInfo(cmd, info)
		}
		if err == nil && len(info.Problems) > 0 {
			return cli.ErrFinding
		}
		return err
	}
	return cmd
}

func printInfo(cmd *cobra.Command, info *format.Info) error {
	var b strings.Builder
	section := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s\n", title)
		for _, line := range lines {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	section("found log directories:", info.Found)
	if info.Metadata != "" {
		fmt.Fprintf(&b, "found metadata %s\n", info.Metadata)
	}
	section("found "+reports.Plural(int64(len(info.Problems)), "problem")+":", info.Problems)
	_, err := fmt.Fprint(cmd.OutOrStdout(), b.String())
	return err
}

// levelsDocument is the JSON document of version-mapping and of feature-dependencies.
type levelsDocument struct {
	Config cli.Configuration `json:"config"`
	Levels []levelReport     `json:"levels"`
}

// levelReport is a feature at a level in JSON.
type levelReport struct {
	Feature string        `json:"feature"`
	Level   int16         `json:"level"`
	Name    string        `json:"name,omitempty"` // of a metadata.version
	Needs   []levelReport `json:"needs,omitempty"`
}

func levelsReport(levels []features.Level) (list []levelReport) {
	for _, l := range levels {
		r := levelReport{Feature: l.Name, Level: l.Level}
		if l.Name == features.MetadataVersion {
			r.Name = features.VersionName(l.Level)
		}
		list = append(list, r)
	}
	return list
}

// versionMappingCommand returns `version-mapping`, which both tools of Kafka have.
func versionMappingCommand(parent string) *cobra.Command {
	var version, release string
	cmd := &cobra.Command{
		Use:     "version-mapping",
		Short:   "Print the metadata.version of a version and the default level of every other feature there",
		Example: "  simrun " + parent + " version-mapping\n  simrun " + parent + " version-mapping --release-version 3.9 --release 4.0",
		Args:    noArguments,
	}
	cmd.Flags().StringVarP(&version, "release-version", "r", "", "version, as 3.9 or 3.9-IV0; default is the latest production one")
	cmd.Flags().StringVar(&release, "release", "upstream-4.5", "software whose table it is: "+strings.Join(features.Names(), ", "))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := findRelease(release)
		if err != nil {
			return err
		}
		levels, err := r.VersionMapping(version)
		if err != nil {
			return cli.Usagef("--release-version: %s", bare(err))
		}
		call := cli.Configure(cmd, nil, nil)
		if cli.JSON(cmd) {
			return cli.PrintJSON(cmd.OutOrStdout(), levelsDocument{call, levelsReport(levels)})
		}
		for _, l := range levels {
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), l.Text()); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// featureDependenciesCommand returns `feature-dependencies`, which both tools of Kafka have.
func featureDependenciesCommand(parent string) *cobra.Command {
	var list []string
	var release string
	cmd := &cobra.Command{
		Use:     "feature-dependencies --feature NAME=LEVEL",
		Short:   "Print what the levels of features need of other features",
		Example: "  simrun " + parent + " feature-dependencies --feature eligible.leader.replicas.version=1 --feature group.version=1",
		Args:    noArguments,
	}
	cmd.Flags().StringArrayVarP(&list, "feature", "f", nil, "NAME=LEVEL, required, repeatable")
	cmd.Flags().StringVar(&release, "release", "upstream-4.5", "software whose table it is: "+strings.Join(features.Names(), ", "))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := findRelease(release)
		switch {
		case err != nil:
			return err
		case len(list) == 0:
			return cli.Usagef("--feature is missing: give NAME=LEVEL")
		}
		var levels []features.Level
		var needs [][]features.Level
		for _, text := range list {
			l, err := features.ParseLevel(text)
			if err != nil {
				return cli.Usagef("--feature: %s", bare(err))
			}
			n, err := r.Dependencies(l)
			if err != nil {
				return cli.Usagef("--feature %s: %s", text, bare(err))
			}
			levels, needs = append(levels, l), append(needs, n)
		}
		return printDependencies(cmd, levels, needs)
	}
	return cmd
}

func printDependencies(cmd *cobra.Command, levels []features.Level, needs [][]features.Level) error {
	call := cli.Configure(cmd, nil, nil)
	if cli.JSON(cmd) {
		all := levelsReport(levels)
		for i := range all {
			all[i].Needs = levelsReport(needs[i])
		}
		return cli.PrintJSON(cmd.OutOrStdout(), levelsDocument{call, all})
	}
	for i, l := range levels {
		line := l.Text() + " has no dependencies"
		if len(needs[i]) > 0 {
			line = l.Text() + " requires:"
			for _, n := range needs[i] {
				line += "\n    " + n.Text()
			}
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), line); err != nil {
			return err
		}
	}
	return nil
}
