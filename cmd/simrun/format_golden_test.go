package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
)

// simrunHere runs the program in this process.
func simrunHere(args ...string) (code int, stdout, stderr string) {
	var out, complaints bytes.Buffer
	a := app()
	a.Stdout, a.Stderr = &out, &complaints
	code = a.Main(args)
	return code, out.String(), complaints.String()
}

// formattedCase is one entry of formatted/index.json.
type formattedCase struct {
	Case               string
	NodeID             int32
	ClusterID          string
	ReleaseVersion     string
	InitialControllers *string
	UnstableFeatures   bool
	Listener           string `json:"controllerListenerName"`
	ScramArguments     []string
	Files              []formattedFile
}

type formattedFile struct {
	File        string
	DirectoryID string
	Batches     []struct {
		MaxTimestamp int64
		Records      []struct {
			Name string
			JSON struct {
				Name                      string
				Salt                      string
				Mechanism                 int8
				LastContainedLogTimestamp *int64
			}
		}
	}
}

func goldenFormatted() string {
	root := os.Getenv("KRAFTSIM_GOLDEN")
	if root == "" {
		root = filepath.Join("..", "..", "testdata", "golden")
	}
	return filepath.Join(root, "formatted")
}

// logDir is the log directory of a file of a case.
func (f *formattedFile) logDir() string {
	parts := strings.Split(f.File, "/")
	return parts[0] + "/" + parts[1]
}

// written orders files as they are written: by directory, bootstrap.checkpoint, 0-0.checkpoint, meta.properties.
func (f *formattedFile) written() string {
	turn := map[string]string{bootstrap.FileName: "0", bootstrap.CheckpointName: "1", "meta.properties": "2"}
	return f.logDir() + " " + turn[path.Base(f.File)]
}

// TestGoldenFormatCommand makes every directory that Kafka's formatter left again, through the command line: with the same
// ids, salts and times, checkpoints come out byte for byte, and meta.properties line by line from the third line on.
func TestGoldenFormatCommand(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(goldenFormatted(), "index.json"))
	require.NoError(t, err)
	var cases []formattedCase
	require.NoError(t, json.Unmarshal(text, &cases))
	require.NotEmpty(t, cases)
	for _, c := range cases {
		t.Run(c.Case, func(t *testing.T) {
			root := t.TempDir()
			code, out, complaint := simrunHere(c.arguments(t, root)...)
			require.Zero(t, code, "%s%s", out, complaint)
			require.NotContains(t, out, "secret", "a password is printed")
			var want []string
			for _, f := range c.Files {
				want = append(want, f.File)
				c.compare(t, root, &f)
			}
			require.ElementsMatch(t, want, filesBelow(t, root, "case.properties"))
			code, out, _ = simrunHere("dump", root+"/"+c.Case)
			require.Zero(t, code, out)
			require.Contains(t, out, " damaged 0, unknown 0, unreadable 0,", "dump decodes what format wrote")
			require.Contains(t, out, `"metadata.version"`)
		})
	}
}

// arguments writes the configuration of a case and returns the command line.
func (c *formattedCase) arguments(t *testing.T, root string) []string {
	t.Helper()
	slices.SortFunc(c.Files, func(a, b formattedFile) int { return cmp.Compare(a.written(), b.written()) })
	args := []string{"format", "--config", root + "/case.properties", "--cluster-id", c.ClusterID, "--release", "4.0"}
	var dirs, times, salts []string
	metadata := ""
	for _, f := range c.Files {
		dir := root + "/" + f.logDir()
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		if path.Base(f.File) == bootstrap.CheckpointName {
			metadata = dir
			times = append(times, strconv.FormatInt(*f.Batches[0].Records[0].JSON.LastContainedLogTimestamp, 10))
		}
		for _, b := range f.Batches {
			times = append(times, strconv.FormatInt(b.MaxTimestamp, 10))
			for _, r := range b.Records {
				if r.Name == "UserScramCredentialRecord" {
					salts = append(salts, r.JSON.Salt)
				}
			}
		}
		if f.DirectoryID != "" {
			times = append(times, "0")
			args = append(args, "--directory-id", dir+"="+f.DirectoryID)
		}
	}
	for i, argument := range c.ScramArguments {
		if !strings.Contains(argument, "salt=") { // Kafka drew it
			argument = strings.TrimSuffix(argument, "]") + ",salt=" + salts[i] + "]"
		}
		args = append(args, "--add-scram", argument)
	}
	config := "process.roles=controller\nnode.id=" + strconv.FormatInt(int64(c.NodeID), 10) + "\nlog.dirs=" + strings.Join(dirs, ",") +
		"\ncontroller.listener.names=" + c.Listener + "\nlisteners=" + c.Listener + "://localhost:9093\n"
	if metadata != "" {
		config += "metadata.log.dir=" + metadata + "\n"
	}
	if c.UnstableFeatures {
		config += "unstable.feature.versions.enable=true\n"
	}
	if c.InitialControllers == nil {
		config += "controller.quorum.voters=" + strconv.FormatInt(int64(c.NodeID), 10) + "@localhost:9093\n"
	} else {
		args = append(args, "--initial-controllers", *c.InitialControllers)
	}
	if c.ReleaseVersion != "" {
		args = append(args, "--release-version", c.ReleaseVersion)
	}
	require.NoError(t, os.WriteFile(root+"/case.properties", []byte(config), 0o600))
	return append(args, "--at", strings.Join(times, ","))
}

func (c *formattedCase) compare(t *testing.T, root string, f *formattedFile) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join(goldenFormatted(), f.File))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(root, f.File))
	require.NoError(t, err)
	if path.Base(f.File) != "meta.properties" {
		require.Equal(t, inOrderOfIDs(t, want, f), got, f.File)
		return
	}
	linesOf := func(content []byte) []string { return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n") }
	require.Regexp(t, regexp.MustCompile(`^#\n#\w{3} \w{3} \d\d \d\d:\d\d:\d\d \w+ \d{4}\n`), string(got))
	require.ElementsMatch(t, linesOf(want)[2:], linesOf(got)[2:], f.File)
}

// inOrderOfIDs is a checkpoint of Kafka's with its voters ascending; there they come in the order of a hash table.
func inOrderOfIDs(t *testing.T, content []byte, f *formattedFile) []byte {
	t.Helper()
	checkpoint, err := bootstrap.ParseCheckpoint(content)
	require.NoError(t, err)
	byID := func(a, b record.VoterEntry) int { return cmp.Compare(a.VoterID, b.VoterID) }
	if checkpoint.Voters == nil || slices.IsSortedFunc(checkpoint.Voters.Voters, byID) {
		return content
	}
	slices.SortFunc(checkpoint.Voters.Voters, byID)
	last := len(f.Batches) - 1
	return checkpoint.AppendTo(nil, bootstrap.Times{HeaderMs: f.Batches[0].MaxTimestamp, DataMs: f.Batches[1].MaxTimestamp,
		FooterMs: f.Batches[last].MaxTimestamp})
}

// filesBelow lists the files of a tree but one.
func filesBelow(t *testing.T, root, but string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != but {
			rel, _ := filepath.Rel(root, name)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	}))
	return names
}
