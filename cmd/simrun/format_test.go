package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// Two voters.
const (
	voterA = "1@c1:9093:F2YZqouCbrffmWE02jzh0g"
	voterB = "2@c2:9093:Fm2FrEgxhEGKPtUz5SutlA"
)

// plainDir is a new directory whose name has no comma, as names of subtests may: log.dirs is a list.
func plainDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "simrun-format-") //nolint:usetesting // the name of a subtest may hold a comma
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// configLines makes a configuration: the keys given replace those of a controller in a dynamic quorum, an empty value removes one.
func configLines(root string, change map[string]string) string {
	keys := []string{"process.roles", "node.id", "log.dirs", "controller.listener.names", "listeners", "controller.quorum.bootstrap.servers",
		"controller.quorum.voters", "metadata.log.dir", "unstable.feature.versions.enable", "inter.broker.protocol.version", "broker.id",
		"advertised.listeners"}
	values := map[string]string{
		"process.roles": "controller", "node.id": "1", "log.dirs": root + "/d0," + root + "/d1", "controller.listener.names": "CONTROLLER",
		"listeners": "CONTROLLER://c1:9093", "controller.quorum.bootstrap.servers": "c1:9093",
	}
	var b strings.Builder
	for _, key := range keys {
		value, changed := change[key]
		if !changed {
			value = values[key]
		}
		if value != "" {
			fmt.Fprintf(&b, "%s=%s\n", key, strings.ReplaceAll(value, "ROOT", root))
		}
	}
	return b.String()
}

// TestFormatCommandRefuses: every wrong combination is refused with one line that says what to do, exit code 2, and nothing is
// written. The checks of the library have a table of their own (metadata/format.TestChecks); this one is about the way there.
func TestFormatCommandRefuses(t *testing.T) {
	static := map[string]string{"controller.quorum.voters": "1@c1:9093"}
	broker := map[string]string{"process.roles": "broker", "listeners": "PLAINTEXT://b:9092"}
	for _, c := range []struct {
		name   string
		config map[string]string
		args   string
		want   string
	}{
		{"two flags of the group", nil, "-t X -s -N", "only one of --standalone, --no-initial-controllers and --initial-controllers"},
		{"three flags of the group", nil, "-t X -s -N -I " + voterA, "only one of --standalone"},
		{"no cluster id", nil, "-s", "--cluster-id is missing: simrun format random-uuid makes one"},
		{"empty release version", nil, "-t X -s --release-version=", "--release-version is empty"},
		{"no roles", map[string]string{"process.roles": ""}, "-t X -s", "process.roles is empty"},
		{"unknown role", map[string]string{"process.roles": "controller,zookeeper"}, "-t X -s", `process.roles: "zookeeper" is no role`},
		{"a role twice", map[string]string{"process.roles": "broker,broker"}, "-t X", "process.roles: broker stands there twice"},
		{"bad release version", nil, "-t X -s -r 9.9", "--release-version: unknown metadata.version"},
		{"old release version", nil, "-t X -s -r 3.2-IV0", "--release-version: unknown metadata.version"},
		{"old release version, 4.0", nil, "-t X -s --release 4.0 -r 3.0-IV1", "too old to format with, the minimum is 3.3-IV0"},
		{"feature without level", nil, "-t X -s -f group.version", `--feature "group.version": want NAME=LEVEL`},
		{"static voters and -s", static, "-t X -s", "controller.quorum.voters is set: leave it empty"},
		{"static voters and -I", static, "-t X -I " + voterA, "controller.quorum.voters is set: leave it empty"},
		{"bad list", nil, "-t X -I 1@c1:9093", `--initial-controllers`},
		{"empty list", nil, "-t X --initial-controllers=", "no controllers in"},
		{"duplicate voter", nil, "-t X -I " + voterA + "," + voterA, "controller id 1 is given more than once"},
		{"-s on a broker", broker, "-t X -s", "--standalone is only for a node with the controller role"},
		{"none of the three", nil, "-t X", "choose one of --standalone, --initial-controllers and --no-initial-controllers"},
		{"no node id", map[string]string{"node.id": ""}, "-t X -s", "node.id is -1"},
		{"node id in words", map[string]string{"node.id": "one"}, "-t X -s", `node.id: "one" is not a number`},
		{"two node ids", map[string]string{"broker.id": "2"}, "-t X -s", "broker.id: 2, but node.id is 1"},
		{"no directories", map[string]string{"log.dirs": ""}, "-t X -s", "log.dirs is empty"},
		{"no controller listener", map[string]string{"controller.listener.names": ""}, "-t X -s", "controller.listener.names is empty"},
		{"listener that is not there", map[string]string{"listeners": "PLAINTEXT://c1:9092"}, "-t X -s", `controller.listener.names has "CONTROLLER", which is not in listeners`},
		{"listener without port", map[string]string{"listeners": "CONTROLLER://c1"}, "-t X -s", `is not NAME://host:port`},
		{"listener with a large port", map[string]string{"listeners": "CONTROLLER://c1:70000"}, "-t X -s", "has no port"},
		{"a broker with the controller listener", map[string]string{"process.roles": "broker"}, "-t X", "process.roles has no controller"},
		{"voters without the node", map[string]string{"controller.quorum.voters": "2@c2:9093"}, "-t X", "does not name node.id 1"},
		{"voters with the broker", map[string]string{"process.roles": "broker", "listeners": "PLAINTEXT://b:9092",
			"controller.quorum.voters": "1@c1:9093"}, "-t X", "names node.id 1, which has not the controller role"},
		{"voters that are none", map[string]string{"controller.quorum.voters": "c1:9093"}, "-t X", "controller.quorum.voters: "},
		{"unstable in other words", map[string]string{"unstable.feature.versions.enable": "yes"}, "-t X -s", "neither true nor false"},
		{"two metadata versions", nil, "-t X -s -r 4.0 -f metadata.version=7", "both given"},
		{"a release of unstable levels", nil, "-t X -s -r 4.5", `"4.5": release upstream-4.5 has no level of it in production; name one in full, as 4.5-IV0, which needs unstable`},
		{"not stable", nil, "-t X -s -r 4.5-IV0", "not yet stable, set unstable.feature.versions.enable"},
		{"unknown feature", nil, "-t X -s -f color=1", `--feature "color" is not known, release upstream-4.5 has metadata.version, `},
		{"kraft.version 0, dynamic", nil, "-t X -s -f kraft.version=0", "the quorum is dynamic"},
		{"kraft.version 1, static", static, "-t X -f kraft.version=1", "the quorum is not dynamic"},
		{"unknown level", nil, "-t X -s -f group.version=9", "unknown feature level"},
		{"kraft.version 1 too early, 4.0", nil, "-t X -s --release 4.0 -r 3.8", "needs metadata.version 21 (3.9-IV0)"},
		{"SCRAM too early", nil, "-t X -s -r 3.5-IV1 -S SCRAM-SHA-256=[name=a,password=b]", "--add-scram needs metadata.version 11"},
		{"SCRAM without a name", nil, "-t X -s -S SCRAM-SHA-256=[password=b]", "--add-scram: SCRAM-SHA-256: name is missing"},
		{"inter.broker.protocol.version, 4.0", map[string]string{"inter.broker.protocol.version": "9.9"}, "-t X -s --release 4.0", "inter.broker.protocol.version"},
		{"empty id where it is recorded", nil, "--cluster-id= -s --release kip1262", "--cluster-id is empty, which metadata.version 34"},
		{"unknown release", nil, "-t X -s --release 5.0", `--release "5.0" is not one of 3.3, `},
		{"a directory id without directory", nil, "-t X -s --directory-id F2YZqouCbrffmWE02jzh0g", "want DIR=ID"},
		{"a directory id for another directory", nil, "-t X -s --directory-id ROOT/x=F2YZqouCbrffmWE02jzh0g", "the directory is not among"},
		{"a reserved directory id", nil, "-t X -s --directory-id ROOT/d0=AAAAAAAAAAAAAAAAAAAAAA", "the id is reserved"},
		{"a directory id twice", nil, "-t X -s --directory-id ROOT/d0=F2YZqouCbrffmWE02jzh0g --directory-id ROOT/d1=F2YZqouCbrffmWE02jzh0g", "is given twice"},
		{"a directory id against the list", nil, "-t X -I " + voterA + " --directory-id ROOT/d0=Fm2FrEgxhEGKPtUz5SutlA", "--initial-controllers lists"},
		{"an id of the list for another directory", nil, "-t X -I " + voterA + " --directory-id ROOT/d1=F2YZqouCbrffmWE02jzh0g", "another directory has that id"},
		{"a reading before 1970", nil, "-t X -s --at 1,2,-5", "--at: -5 lies before 1970"},
		{"an argument", nil, "-t X -s now", `format takes flags only, not "now"`},
		{"an unknown flag", nil, "-t X -s --dry-run", "unknown flag: --dry-run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := plainDir(t)
			config := root + "/server.properties"
			require.NoError(t, os.WriteFile(config, []byte(configLines(root, c.config)), 0o600))
			args := append([]string{"format", "-c", config}, strings.Fields(strings.ReplaceAll(c.args, "ROOT", root))...)
			code, _, complaint := simrunHere(args...)
			require.Equal(t, 2, code, complaint)
			require.Contains(t, complaint, c.want)
			require.Equal(t, 1, strings.Count(complaint, "\n"), "one line: %s", complaint)
			require.NotContains(t, complaint, "format: ", "no name of a package")
			require.Empty(t, filesBelow(t, root, "server.properties"), "nothing is written")
			_, err := os.Stat(root + "/d0")
			require.ErrorIs(t, err, os.ErrNotExist, "no directory is made")
		})
	}
	code, _, complaint := simrunHere("format", "-c", t.TempDir()+"/none", "-t", "X")
	require.Equal(t, 2, code)
	require.Contains(t, complaint, "cannot be read: no such file")
	if _, err := os.Stat("/dev/zero"); err == nil { // it has no end
		code, _, complaint = simrunHere("format", "-c", "/dev/zero", "-t", "X")
		require.Equal(t, 2, code)
		require.Contains(t, complaint, "cannot be read: larger than")
	}
	code, _, complaint = simrunHere("format", "-t", "X")
	require.Equal(t, 2, code)
	require.Contains(t, complaint, "--config is missing")
}

// TestFormatCommandCombinations: what metadata-bootstrap 1.8 calls valid, by the files that it leaves and what dump says of them.
func TestFormatCommandCombinations(t *testing.T) {
	const meta, check = "d0/meta.properties d1/meta.properties", "d0/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint "
	const legacy = "d0/bootstrap.checkpoint d0/meta.properties d1/bootstrap.checkpoint d1/meta.properties"
	static := map[string]string{"controller.quorum.voters": "1@c1:9093"}
	broker := map[string]string{"process.roles": "broker", "listeners": "PLAINTEXT://b:9092"}
	staticBroker := map[string]string{"process.roles": "broker", "listeners": "PLAINTEXT://b:9092", "controller.quorum.voters": "2@c1:9093"}
	combined := map[string]string{"process.roles": "broker, controller", "listeners": "PLAINTEXT://b:9092,CONTROLLER://:9094"}
	for _, c := range []struct {
		name   string
		config map[string]string
		args   string
		files  string
		says   string
	}{
		{"broker", broker, "", meta, "kraft.version 1"},
		{"broker, static", staticBroker, "", meta, "kraft.version 0"},
		{"broker -N", broker, "-N", meta, "kraft.version 1"},
		{"broker -I", broker, "-I " + voterB, meta, "kraft.version 1"},
		{"controller, static", static, "", check + meta, "kraft.version 0"},
		{"controller, static, -N", static, "-N", check + meta, "kraft.version 0"},
		{"controller -s", nil, "-s", check + meta, "voters 1@c1:9093:"},
		{"controller -I, listed", nil, "-I " + voterB + "," + voterA, check + meta, "voters " + voterA + "," + voterB},
		{"controller -I, not listed", nil, "-I " + voterB, check + meta, "voters " + voterB},
		{"controller -N", nil, "-N", check + meta, "kraft.version 1"},
		{"combined -s, host from the machine", combined, "-s", check + meta, "voters 1@localhost:9094:"},
		{"oct24 -s", nil, "-s --release 4.0", check + legacy, "metadata.version 22 (4.0-IV0), kraft.version 1"},
		{"oct24 -N", nil, "-N --release 4.0", legacy, "kraft.version 0"},
		{"oct24 static", static, "--release 3.9", legacy, "metadata.version 21 (3.9-IV0), kraft.version 0"},
		{"oct24 inter.broker.protocol.version", map[string]string{"controller.quorum.voters": "1@c1:9093", "inter.broker.protocol.version": "3.6"},
			"--release 4.0", legacy, "metadata.version 14 (3.6-IV2)"},
		{"kip1262", nil, "-s --release kip1262", check + meta, "metadata.version 34 (4.5-IV0)"},
		{"upstream-4.5", nil, "-s --release upstream-4.5", check + meta, "metadata.version 33 (4.4-IV2)"},
		{"upstream-4.5, unstable", map[string]string{"unstable.feature.versions.enable": "TRUE"}, "-s", check + meta, "metadata.version 34 (4.5-IV0)"},
		{"advertised", map[string]string{"advertised.listeners": "CONTROLLER://outside:9999"}, "-s", check + meta, "voters 1@outside:9999:"},
		{"metadata.log.dir apart", map[string]string{"metadata.log.dir": "ROOT/d1"}, "-s",
			"d0/meta.properties d1/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint d1/meta.properties", "kraft.version 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := plainDir(t)
			config := root + "/server.properties"
			require.NoError(t, os.WriteFile(config, []byte(configLines(root, c.config)), 0o600))
			args := append([]string{"format", "-c", config, "-t", "X"}, strings.Fields(c.args)...)
			code, out, complaint := simrunHere(args...)
			require.Zero(t, code, complaint)
			require.Contains(t, out, c.says)
			require.Contains(t, out, `cluster id "X", node 1`)
			require.ElementsMatch(t, strings.Fields(c.files), filesBelow(t, root, "server.properties"))
			code, out, _ = simrunHere("format", "info", "-c", config)
			require.Zero(t, code, out)
			require.NotContains(t, out, "problem")

			code, _, complaint = simrunHere(args...)
			require.Equal(t, 2, code)
			require.Contains(t, complaint, "already formatted: "+root+"/d0; use --ignore-formatted")
			code, out, _ = simrunHere(append(args, "-g")...)
			require.Zero(t, code)
			require.Contains(t, out, "all of the log directories are already formatted")
		})
	}
}

// TestFormatOddDirectories: what is odd about a directory is told in a line, and a log that is there stays as it is.
func TestFormatOddDirectories(t *testing.T) {
	root := plainDir(t)
	config := root + "/server.properties"
	require.NoError(t, os.WriteFile(config, []byte(configLines(root, nil)), 0o600))
	require.NoError(t, os.Symlink(root+"/nowhere", root+"/d1"))
	code, _, complaint := simrunHere("format", "-c", config, "-t", "X", "-s")
	require.Equal(t, 2, code)
	require.Contains(t, complaint, root+"/d1 is a link to a directory that is not there: make that one first\n")
	require.NoFileExists(t, root+"/d0/meta.properties")

	require.NoError(t, os.Mkdir(root+"/nowhere", 0o755))
	log := root + "/d0/__cluster_metadata-0/00000000000000000000.log"
	require.NoError(t, os.MkdirAll(filepath.Dir(log), 0o755))
	require.NoError(t, os.WriteFile(log, []byte("a log"), 0o600))
	code, out, complaint := simrunHere("format", "-c", config, "-t", "X", "-s")
	require.Zero(t, code, complaint)
	require.Contains(t, out, root+"/d0 had a metadata log already, which is kept")
	content, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, "a log", string(content))
	require.FileExists(t, root+"/nowhere/meta.properties")
}

// TestFormatScript runs the command as it is typed, in a directory of its own.
func TestFormatScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files: []string{filepath.Join("testdata", "script", "format.txt")},
		Cmds:  map[string]func(ts *testscript.TestScript, neg bool, args []string){"status": exitStatus},
	})
}

// TestFormatCommandRepeats: with ids and times given, two runs leave the same bytes (layout aug26, for which there is no golden case).
func TestFormatCommandRepeats(t *testing.T) {
	for _, release := range []string{"upstream-4.5", "kip1262"} {
		var trees [2]map[string]string
		for i := range trees {
			root := plainDir(t)
			config := root + "/server.properties"
			require.NoError(t, os.WriteFile(config, []byte(configLines(root, nil)), 0o600))
			code, out, complaint := simrunHere("format", "-c", config, "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-s", "--release", release,
				"--directory-id", root+"/d0=F2YZqouCbrffmWE02jzh0g", "--directory-id", root+"/d1=Fm2FrEgxhEGKPtUz5SutlA",
				"--at", "1795998571002,1795998571030,1795998571031", "-S", "SCRAM-SHA-512=[name=bob,salt=ZwsnByguRRr1Nw6fYWaN/Xs8,password=hush]")
			require.Zero(t, code, complaint)
			require.NotContains(t, out, "hush")
			trees[i] = map[string]string{}
			for _, name := range filesBelow(t, root, "server.properties") {
				content, err := os.ReadFile(root + "/" + name)
				require.NoError(t, err)
				trees[i][name] = string(content)
			}
		}
		require.Len(t, trees[0], 3)
		require.Equal(t, trees[0], trees[1])
		want := "#\n#Mon Nov 30 00:29:31 UTC 2026\ncluster.id=MkU3OEVBNTcwNTJENDM2Qg\ndirectory.id=F2YZqouCbrffmWE02jzh0g\nnode.id=1\nversion=1\n"
		require.Equal(t, want, trees[0]["d0/meta.properties"])
	}
}
