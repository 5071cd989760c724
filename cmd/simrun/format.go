package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/osfiles"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/cli"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const formatHelp = `Format does what kafka-storage format does, on real directories: it gives the log directories of a node their meta.properties and
writes the metadata that the cluster starts with. Flags, checks, their order and the bytes on disk are Kafka's; the software that
is imitated is --release. Up to 4.0 (layout oct24) every directory gets a bootstrap.checkpoint, and the metadata directory of a
first voter its 0-0.checkpoint; later ones (layout aug26) write one 0-0.checkpoint on controllers and nothing else.

Of the configuration file count process.roles, node.id, log.dirs, metadata.log.dir, controller.quorum.voters,
controller.listener.names, listeners, advertised.listeners, unstable.feature.versions.enable and, up to 4.0,
inter.broker.protocol.version. A controller whose controller.quorum.voters is empty needs one of --standalone,
--initial-controllers and --no-initial-controllers.

Directories are formatted one after the other, in the order of their names: the directory, the checkpoints, then meta.properties,
each written beside, synced and renamed. So one that has meta.properties is complete, and a run that was killed or met a full disk
is repeated, with --ignore-formatted when some directory was complete. A wrong call writes nothing.
A directory whose .lock another process holds, as a Kafka that runs does, is refused; Kafka's tool does not look.

Ids, salts and times are random and real unless they are given: --directory-id, salt= in --add-scram, and --at, the readings of the
clock in the order in which the tool takes them: per directory one for each batch of bootstrap.checkpoint, then one before and one
for each batch of the 0-0.checkpoint, then one for meta.properties; the last one stays. With all of them the bytes are always the same.

Exit code 0: formatted, or nothing to do. 2: refused, or the disk failed, in one line that says what to do.`

// formatCall is one call of format.
type formatCall struct {
	config, clusterID, version, initial, release string
	features, scram, directoryIDs                []string
	at                                           []int64
	ignore, standalone, none                     bool
}

// formatCommand returns `format` with the other sub-commands of kafka-storage below it.
func formatCommand() *cobra.Command {
	c := &formatCall{}
	cmd := &cobra.Command{
		Use:   "format --config FILE --cluster-id ID",
		Short: "Format the log directories of a node as kafka-storage does; also info, random-uuid and more",
		Long:  formatHelp,
		Example: `Each for a node of its own, whose log.dirs are not formatted yet; static.properties has controller.quorum.voters, the others do not:

  simrun format --config alone.properties --cluster-id "$(simrun format random-uuid)" --standalone
  simrun format -c c1.properties -t MkU3OEVBNTcwNTJENDM2Qg -I 1@c1:9093:F2YZqouCbrffmWE02jzh0g,2@c2:9093:Fm2FrEgxhEGKPtUz5SutlA
  simrun format -c static.properties -t MkU3OEVBNTcwNTJENDM2Qg --release 4.0 --release-version 3.9 --ignore-formatted
  simrun format -c users.properties -t X -s --feature group.version=0 --add-scram 'SCRAM-SHA-256=[name=alice,password=secret]'
  simrun format info --config alone.properties`,
		Args: noArguments,
	}
	f := cmd.Flags()
	f.StringVarP(&c.config, "config", "c", "", "configuration file of the server, required")
	f.StringVarP(&c.clusterID, "cluster-id", "t", "", "cluster id, any string, required")
	f.StringArrayVarP(&c.scram, "add-scram", "S", nil, "SCRAM credential for the bootstrap records: MECHANISM=[name=..,password=..,iterations=..,salt=..], or saltedpassword= for password=; repeatable")
	f.BoolVarP(&c.ignore, "ignore-formatted", "g", false, "skip directories that are formatted already")
	f.StringVarP(&c.version, "release-version", "r", "", "first metadata.version, as 3.9 or 3.9-IV0; default is the latest production one of the release")
	f.StringArrayVarP(&c.features, "feature", "f", nil, "NAME=LEVEL, the first level of a feature; repeatable")
	f.BoolVarP(&c.standalone, "standalone", "s", false, "this controller is the only voter")
	f.BoolVarP(&c.none, "no-initial-controllers", "N", false, "no voter set is written, the node joins later")
	f.StringVarP(&c.initial, "initial-controllers", "I", "", "id@host:port:directoryId,..., the same on every initial controller")
	f.StringVar(&c.release, "release", "upstream-4.5", "software whose format tool this is: "+strings.Join(features.Names(), ", "))
	f.StringArrayVar(&c.directoryIDs, "directory-id", nil, "DIR=ID, the id of a log directory; repeatable, default is random")
	f.Int64SliceVar(&c.at, "at", nil, "readings of the clock, milliseconds since 1970; default is the real clock")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return c.run(cmd) }
	cmd.AddCommand(formatInfoCommand(), randomUUIDCommand(), versionMappingCommand("format"), featureDependenciesCommand("format"))
	return cmd
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return cli.Usagef("%s takes flags only, not %q: see simrun %s --help", cmd.Name(), args[0], cmd.Name())
	}
	return nil
}

// options reads the flags and the configuration file.
func (c *formatCall) options(set *pflag.FlagSet) (*format.Options, *format.Config, error) {
	exclusive := 0
	for _, name := range []string{"standalone", "no-initial-controllers", "initial-controllers"} {
		if f := set.Lookup(name); f.Changed && f.Value.String() != "false" {
			exclusive++
		}
	}
	switch {
	case exclusive > 1: // as Kafka, before anything is read
		return nil, nil, cli.Usagef("give only one of --standalone, --no-initial-controllers and --initial-controllers")
	case c.config == "":
		return nil, nil, cli.Usagef("--config is missing: name the configuration file of the server")
	case !set.Changed("cluster-id"):
		return nil, nil, cli.Usagef("--cluster-id is missing: simrun format random-uuid makes one, the same for all nodes of a cluster")
	case set.Changed("release-version") && c.version == "":
		return nil, nil, cli.Usagef("--release-version is empty: name a version as 3.9 or 3.9-IV0")
	}
	release, config, err := readConfig(c.release, c.config)
	if err != nil {
		return nil, nil, err
	}
	o := &format.Options{
		Release: release, ClusterID: &c.clusterID, ReleaseVersion: c.version, Features: c.features, Scram: c.scram,
		IgnoreFormatted: c.ignore, Standalone: c.standalone, NoInitialControllers: c.none,
	}
	if set.Changed("initial-controllers") {
		o.InitialControllers = &c.initial
	}
	config.Apply(o)
	for _, text := range c.directoryIDs {
		dir, id, found := cutLast(text, "=")
		uuid, err := record.ParseUUID(id)
		if !found || err != nil {
			return nil, nil, cli.Usagef("--directory-id %q: want DIR=ID with an id of 22 letters in base64", text)
		}
		o.DirectoryIDs = append(o.DirectoryIDs, format.DirectoryID{Path: path.Clean(dir), ID: uuid})
	}
	for _, ms := range c.at {
		if ms < 0 {
			return nil, nil, cli.Usagef("--at: %d lies before 1970: readings are milliseconds since then, not negative", ms)
		}
	}
	return o, config, apart(o.Directories)
}

// apart refuses two names for one directory, through a link or otherwise: the second format would overwrite the first.
func apart(dirs []string) error {
	infos := make([]os.FileInfo, len(dirs))
	for i, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			if _, link := os.Lstat(dir); link == nil && errors.Is(err, os.ErrNotExist) {
				return cli.Usagef("log.dirs: %s is a link to a directory that is not there: make that one first", dir)
			}
			continue // not there yet, or the formatter says what is wrong with it
		}
		infos[i] = info
		for j := range i {
			if infos[j] != nil && os.SameFile(infos[j], info) {
				return cli.Usagef("log.dirs: %s and %s are one directory, name it once", dirs[j], dir)
			}
		}
	}
	return nil
}

func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
}

// readConfig reads what every sub-command needs that takes a configuration.
func readConfig(release, file string) (*features.Release, *format.Config, error) {
	r, err := findRelease(release)
	if err != nil {
		return nil, nil, err
	}
	content, err := readSmall(file)
	if err != nil {
		return nil, nil, cli.Usagef("--config %s: cannot be read: %w", file, cause(err))
	}
	config, err := format.ParseConfig(content)
	if err != nil {
		return nil, nil, cli.Usagef("--config %s: %s", file, bare(err))
	}
	return r, config, nil
}

// maxConfigBytes is more than any server.properties has; a device that never ends is not read to its end.
const maxConfigBytes = 16 << 20

// readSmall reads a file, a pipe too, that is no larger than a configuration may be.
func readSmall(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // the operator names it; a pipe without a writer does not block
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	content, err := io.ReadAll(io.LimitReader(f, maxConfigBytes+1))
	if info, bad := f.Stat(); bad == nil && info.Mode()&os.ModeNamedPipe != 0 && len(content) == 0 && err == nil {
		err = errors.New("a pipe to which nobody writes: name a file")
	}
	if err == nil && len(content) > maxConfigBytes {
		err = fmt.Errorf("larger than %d bytes", maxConfigBytes)
	}
	return content, err
}

func findRelease(name string) (*features.Release, error) {
	r, err := features.Find(name)
	if err != nil {
		return nil, cli.Usagef("--release %q is not one of %s", name, strings.Join(features.Names(), ", "))
	}
	return r, nil
}

// bare is an error without the names of packages, which say nothing to an operator.
func bare(err error) string {
	text := err.Error()
	for _, name := range []string{"format: ", "features: ", "metaprops: ", "files: ", "bootstrap: ", "voters: ", "record: "} {
		text = strings.ReplaceAll(": "+text, ": "+name, ": ")[2:]
	}
	return strings.Join(strings.Fields(text), " ")
}

// formatReport is the JSON document of format.
type formatReport struct {
	Config              cli.Configuration `json:"config"`
	Release             string            `json:"release"`
	ClusterID           string            `json:"cluster_id"`
	NodeID              int32             `json:"node_id"`
	MetadataVersion     int16             `json:"metadata_version"`
	MetadataVersionName string            `json:"metadata_version_name"`
	KRaftVersion        int16             `json:"kraft_version"`
	Voters              string            `json:"voters"` // as --initial-controllers has them; empty: none written
	Formatted           []formattedDir    `json:"formatted"`
	Skipped             []string          `json:"skipped"` // formatted before
	Failed              []string          `json:"failed"`  // unreadable, left as they are
	Messages            []string          `json:"messages"`
}

type formattedDir struct {
	Path        string `json:"path"`
	DirectoryID string `json:"directory_id"`
}

func (c *formatCall) run(cmd *cobra.Command) error {
	o, config, err := c.options(cmd.Flags())
	if err != nil {
		return err
	}
	if err := hidePasswords(cmd.Flags(), c.scram); err != nil {
		return err
	}
	call := cli.Configure(cmd, nil, nil)
	if !cli.JSON(cmd) {
		if err := call.Print(cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	disk := osfiles.New()
	if err := notInUse(disk, o.Directories, o.MetadataDir); err != nil {
		return err
	}
	old := oldLog(disk, o)
	result, err := format.Format(disk, o, format.Deps{Chooser: randomChooser{}, Clock: &listedClock{times: c.at}})
	if err != nil {
		return cli.Usagef("%s", bare(err))
	}
	result.Messages = append(result.Messages, config.Warnings()...)
	if old && slices.Contains(result.Formatted, o.MetadataDir) {
		result.Messages = append(result.Messages, fmt.Sprintf("%s had a metadata log already, which is kept: the node starts on it under a new directory id "+
			"(put the old meta.properties back if it is this node's, else empty the directory and format again)", o.MetadataDir))
	}
	return c.report(cmd, call, o, disk, result)
}

// notInUse refuses directories in which a process is at work, such as a Kafka that runs. Kafka's own tool does not look.
func notInUse(disk *osfiles.Disk, dirs []string, metadataDir string) error {
	for _, dir := range append(slices.Clone(dirs), metadataDir) {
		if dir == "" {
			continue
		}
		if held, _ := disk.LockedElsewhere(dir + "/" + startup.LockFile); held { // of what cannot be read the formatter says what is wrong
			return cli.Usagef("%s is in use by another process, which has locked %s: stop it before the directory is formatted", dir, startup.LockFile)
		}
	}
	return nil
}

// oldLog tells whether a replica has lived in the metadata directory. Kafka's tool does not look, and says nothing.
func oldLog(disk *osfiles.Disk, o *format.Options) bool {
	names, _ := disk.List(bootstrap.PartitionPath(o.MetadataDir)) // of what cannot be read the formatter says what is wrong
	return slices.ContainsFunc(names, func(name string) bool { return name == quorumstate.FileName || strings.HasSuffix(name, ".log") })
}

func (c *formatCall) report(cmd *cobra.Command, call cli.Configuration, o *format.Options, disk *osfiles.Disk, r *format.Result) error {
	report := formatReport{Config: call, Release: o.Release.Name, ClusterID: *o.ClusterID, NodeID: o.NodeID,
		MetadataVersion: r.MetadataVersion, MetadataVersionName: features.VersionName(r.MetadataVersion), KRaftVersion: r.KRaftVersion,
		Formatted: []formattedDir{}, Skipped: append([]string{}, r.Skipped...), Failed: append([]string{}, r.Failed...),
		Messages: append([]string{}, r.Messages...)}
	ensemble := metaprops.Load(disk, o.Directories, o.MetadataDir, o.Release.MetaProperties)
	for _, dir := range r.Formatted {
		id, _ := ensemble.DirectoryID(dir)
		report.Formatted = append(report.Formatted, formattedDir{Path: dir, DirectoryID: id.String()})
	}
	var voters []string
	for _, v := range r.Voters {
		voters = append(voters, v.String())
	}
	report.Voters = strings.Join(voters, ",")
	if cli.JSON(cmd) {
		return cli.PrintJSON(cmd.OutOrStdout(), report)
	}
	return report.print(cmd.OutOrStdout())
}

func (r *formatReport) print(w io.Writer) error {
	var b strings.Builder
	for _, line := range r.Messages {
		fmt.Fprintln(&b, line)
	}
	for _, d := range r.Formatted {
		fmt.Fprintf(&b, "%s has directory id %s\n", d.Path, d.DirectoryID)
	}
	if len(r.Formatted) > 0 {
		fmt.Fprintf(&b, "cluster id %s, node %d, metadata.version %d (%s), kraft.version %d\n", strconv.Quote(r.ClusterID), r.NodeID,
			r.MetadataVersion, r.MetadataVersionName, r.KRaftVersion)
		if r.Voters != "" {
			fmt.Fprintf(&b, "voters %s\n", r.Voters)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// hidePasswords keeps passwords out of the configuration that is printed.
func hidePasswords(set *pflag.FlagSet, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	shown := make([]string, len(arguments))
	for i, a := range arguments {
		shown[i] = format.HidePassword(a)
	}
	return set.Lookup("add-scram").Value.(pflag.SliceValue).Replace(shown)
}

// randomChooser draws from the machine's randomness.
type randomChooser struct{}

// Choose implements format.Chooser. The ranges are powers of two, so no value is more likely than another.
func (randomChooser) Choose(_ format.Site, _ uint64, n int64) int64 {
	var word [8]byte
	_, _ = rand.Read(word[:]) // never fails
	return int64(binary.BigEndian.Uint64(word[:])>>1) % n
}

// listedClock plays back readings; without any it is the real clock.
type listedClock struct{ times []int64 }

// NowMs implements format.Clock.
func (c *listedClock) NowMs() int64 {
	switch len(c.times) {
	case 0:
		return time.Now().UnixMilli()
	case 1:
		return c.times[0]
	}
	now := c.times[0]
	c.times = c.times[1:]
	return now
}

var errNoUUID = errors.New("no uuid that may be used in a thousand draws")

// randomUUIDCommand returns `format random-uuid`.
func randomUUIDCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "random-uuid", Short: "Print a random id in base64, for a cluster or a directory", Args: noArguments}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for range 1000 {
			var id record.UUID
			_, _ = rand.Read(id[:])
			id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a random one of RFC 4122, as Java makes them
			if id.IsReserved() || strings.HasPrefix(id.String(), "-") {
				continue
			}
			if cli.JSON(cmd) {
				return cli.PrintJSON(cmd.OutOrStdout(), map[string]string{"uuid": id.String()})
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), id)
			return err
		}
		return errNoUUID
	}
	return cmd
}
