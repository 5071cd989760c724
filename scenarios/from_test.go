package scenarios

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

const partition = "__cluster_metadata-0/"

// TestFromLayouts boots what the format tool leaves, in both layouts, for every kind of quorum.
func TestFromLayouts(t *testing.T) {
	ids := "7@shared:9093:" + uuidText(7) + ",8@shared:9094:" + uuidText(8) + ",9@c.example:9093:" + uuidText(9)
	others := "1@a:9093:" + uuidText(1) + ",2@b:9093:" + uuidText(2)
	scram := func(o *format.Options) { o.Scram = []string{"SCRAM-SHA-256=[name=alice,password=p]"} }
	for _, c := range []struct {
		name, release string
		dirs          int
		edit          func(o *format.Options)
		options       FromOptions
		hosts         string
		software      string
		level         int16
		record        bool
	}{
		{name: "static, aug26", release: "kip1262", dirs: 1, hosts: "n7=controller", software: "kip1262", level: 34, record: true},
		{name: "static, upstream", release: "upstream-4.5", dirs: 2, hosts: "n7=controller", software: "upstream-4.5", level: 33},
		{name: "static, upstream, as kip1262", release: "upstream-4.5", dirs: 2, options: FromOptions{Release: "kip1262"},
			hosts: "n7=controller", software: "kip1262", level: 33},
		{name: "static, oct24", release: "4.0", dirs: 2, hosts: "n7=controller", software: "4.0", level: 22},
		{name: "static, 3.9", release: "3.9", dirs: 1, options: FromOptions{Release: "3.9"}, hosts: "n7=controller", software: "3.9", level: 21},
		{name: "scram, aug26", release: "kip1262", dirs: 1, edit: scram, hosts: "n7=controller", software: "kip1262", level: 34, record: true},
		{name: "standalone, aug26", release: "kip1262", dirs: 2, edit: standalone, hosts: "n7=controller", software: "kip1262", level: 34, record: true},
		{name: "standalone, oct24", release: "4.0", dirs: 1, edit: standalone, hosts: "n7=controller", software: "4.0", level: 22},
		{name: "three voters, two on one host name", release: "kip1262", dirs: 1, edit: dynamicOf(ids), hosts: "n7=controller n8=controller n9=controller",
			software: "kip1262", level: 34, record: true},
		{name: "three voters, oct24", release: "4.0", dirs: 2, edit: dynamicOf(ids), hosts: "n7=controller n8=controller n9=controller", software: "4.0", level: 22},
		{name: "three voters, unstable level", release: "4.0", dirs: 1, edit: func(o *format.Options) { dynamicOf(ids)(o); o.Unstable = true },
			hosts: "n7=controller n8=controller n9=controller", software: "4.0", level: 25},
		{name: "three voters, old level, other features", release: "kip1262", dirs: 1, options: FromOptions{Release: "kip1262"}, edit: func(o *format.Options) {
			dynamicOf(ids)(o)
			o.ReleaseVersion, o.Features = "4.0", []string{"group.version=0", "transaction.version=1"}
		}, hosts: "n7=controller n8=controller n9=controller", software: "kip1262", level: 25},
		{name: "not a voter", release: "kip1262", dirs: 1, edit: dynamicOf(others), hosts: "n1=controller n2=controller n7=observer", software: "kip1262", level: 34, record: true},
		{name: "another listener", release: "kip1262", dirs: 1, edit: func(o *format.Options) { dynamicOf(ids)(o); o.Listener = "QUORUM" },
			hosts: "n7=controller n8=controller n9=controller", software: "kip1262", level: 34, record: true},
		{name: "no initial controllers", release: "kip1262", dirs: 1, edit: func(o *format.Options) { o.StaticVoters, o.NoInitialControllers = false, true },
			hosts: "n1=controller n7=observer", software: "kip1262", level: 34, record: true},
		{name: "no initial controllers, voters given", release: "kip1262", dirs: 1, edit: func(o *format.Options) { o.StaticVoters, o.NoInitialControllers = false, true },
			options: FromOptions{Voters: "1@a:1,2@b:1,3@c:1"}, hosts: "n1=controller n2=controller n3=controller n7=observer", software: "kip1262", level: 34, record: true},
		{name: "static of three", release: "4.0", dirs: 1, options: FromOptions{Voters: "7@a:9093,8@b:9093,9@a:9094"},
			hosts: "n7=controller n8=controller n9=controller", software: "4.0", level: 22},
		{name: "static, not a voter", release: "kip1262", dirs: 1, options: FromOptions{Voters: "1@[::1]:9093,2@b:9093,3@c:9093"},
			hosts: "n1=controller n2=controller n3=controller n7=observer", software: "kip1262", level: 34, record: true},
		{name: "old level on new software", release: "kip1262", dirs: 1, edit: func(o *format.Options) { o.ReleaseVersion = "3.9" },
			options: FromOptions{Release: "kip1262"}, hosts: "n7=controller", software: "kip1262", level: 21},
		{name: "old level, nothing asked", release: "kip1262", dirs: 1, edit: func(o *format.Options) { o.ReleaseVersion = "3.9" },
			hosts: "n7=controller", software: "upstream-4.5", level: 21},
		{name: "unstable level", release: "4.0", dirs: 1, edit: func(o *format.Options) { o.Unstable = true }, hosts: "n7=controller", software: "4.0", level: 25},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := formatted(t, c.release, c.dirs, c.edit)
			p, err := PlanFrom(tree, 1, c.options)
			require.NoError(t, err)
			require.Equal(t, c.hosts, hostsOf(p))
			r, v := bootPlan(t, p)
			requireUp(t, r, v)
			require.Equal(t, c.software, r.Release)
			require.Equal(t, c.level, r.MetadataVersion)
			require.Equal(t, c.record, r.ClusterIDRecord)
			require.Equal(t, "C", r.ClusterID)
			for name, f := range tree {
				require.Equal(t, f.Data, exported(r)[name].Data, name)
			}
			if p.Params["quorum"] == "dynamic" {
				c.options.Voters = "" // the log knows them now
			}
			again, v := bootTree(t, exported(r), c.options)
			requireUp(t, again, v)
			require.Equal(t, c.level, again.MetadataVersion)
			requirePrefix(t, r, again)
		})
	}
}

func uuidText(b byte) string {
	u := record.UUID{0: 1, 15: b}
	return u.String()
}

func hostsOf(p *plan.Plan) string {
	var words []string
	for i := range p.Hosts {
		words = append(words, p.Hosts[i].ID+"="+p.Hosts[i].Kind)
	}
	return strings.Join(words, " ")
}

// TestFromPlanReplays: the plan carries the tree, through JSON, and runs alike.
func TestFromPlanReplays(t *testing.T) {
	p, err := PlanFrom(formatted(t, "4.0", 2, standalone), 5, FromOptions{})
	require.NoError(t, err)
	text, err := plan.Encode(p)
	require.NoError(t, err)
	back, err := plan.Decode(text)
	require.NoError(t, err)
	require.Equal(t, p, back)
	_, a := bootPlan(t, p)
	_, b := bootPlan(t, back)
	require.Equal(t, a.TraceHash, b.TraceHash)
}

// TestFromDamaged: what Kafka makes of a damaged tree, the node makes of it (formats 6, 7, 9; metadata-bootstrap 2.3, 2.4).
func TestFromDamaged(t *testing.T) {
	good := formatted(t, "4.0", 2, standalone)
	r, v := bootTree(t, good, FromOptions{})
	requireUp(t, r, v)
	used := exported(r)
	log := used["dir0/"+partition+firstSegment].Data
	check := "dir0/" + partition + "00000000000000000000-0000000000.checkpoint"
	flipped := append([]byte{}, used[check].Data...)
	flipped[80] ^= 1
	text := func(s string) []byte { return []byte(s) }
	for _, c := range []struct {
		name    string
		changes map[string][]byte
		release string
		stop    string // the node refuses, with this in its error
		missing string // it runs, and this is what is not as it must be
	}{
		{name: "nothing", changes: nil},
		{name: "torn log tail", changes: map[string][]byte{"dir0/" + partition + firstSegment: log[:len(log)-5]}},
		{name: "zeroes behind the log", changes: map[string][]byte{"dir0/" + partition + firstSegment: append(append([]byte{}, log...), make([]byte, 100)...)}},
		{name: "log without quorum-state", changes: map[string][]byte{"dir0/" + partition + "quorum-state": nil}},
		{name: "leftovers", changes: map[string][]byte{"dir0/" + partition + "quorum-state.tmp": text("{"), "dir0/meta.properties.tmp": text("x"), "dir0/.lock": {},
			"dir0/" + partition + "00000000000000000000.index": text("junk"), "dir0/" + partition + "00000000000000000000.log.deleted": text("junk"),
			"dir0/" + partition + "00000000000000000000-0000000000-1.checkpoint.part": text("junk")}},
		{name: "lost checkpoint of epochs", changes: map[string][]byte{"dir0/" + partition + "leader-epoch-checkpoint": nil}},
		{name: "metadata directory unreadable", changes: map[string][]byte{"dir0/meta.properties": text("version=9\n")}, stop: "error in the metadata log directory"},
		{name: "meta.properties of version 2 under 4.0", changes: map[string][]byte{"dir0/meta.properties": text("version=2\nnode.id=7\n")}, release: "4.0", stop: "version 2"},
		{name: "data directory unreadable", changes: map[string][]byte{"dir1/meta.properties": text("version=9\n")}, missing: "dir1/meta.properties: "},
		{name: "data directory not formatted", changes: map[string][]byte{"dir1/meta.properties": nil}, stop: "not formatted"},
		{name: "another cluster", changes: map[string][]byte{"dir1/meta.properties": text("version=1\nnode.id=7\ncluster.id=D\n")}, stop: "invalid cluster.id"},
		{name: "another node", changes: map[string][]byte{"dir1/meta.properties": text("version=1\nnode.id=8\ncluster.id=C\n")}, stop: "node id does not match"},
		{name: "one directory id twice", changes: map[string][]byte{"dir1/meta.properties": used["dir0/meta.properties"].Data}, stop: "duplicate directory id"},
		{name: "stray log", changes: map[string][]byte{"dir1/" + partition + firstSegment: {}}, stop: "not the metadata log directory"},
		{name: "quorum-state not JSON", changes: map[string][]byte{"dir0/" + partition + "quorum-state": text("leader 1")}, stop: "quorum-state"},
		{name: "quorum-state empty", changes: map[string][]byte{"dir0/" + partition + "quorum-state": {}}, stop: "quorum-state"},
		{name: "0-0.checkpoint corrupt", changes: map[string][]byte{check: flipped}, stop: "snapshot 0-0"},
		{name: "snapshot ahead of the log, corrupt", changes: map[string][]byte{"dir0/" + partition + "00000000000000000100-0000000002.checkpoint": text("x")}, stop: "snapshot 100-2"},
		{name: "foreign checkpoint", changes: map[string][]byte{"dir0/" + partition + "bootstrap.checkpoint": text("x")}, stop: "bootstrap.checkpoint"},
		{name: "foreign segment", changes: map[string][]byte{"dir0/" + partition + "copy.log": text("x")}, stop: "copy.log"},
		{name: "log of another topic", changes: map[string][]byte{"dir0/" + partition + "partition.metadata": text("version: 0\ntopic_id: " + uuidText(3))}, stop: "partition.metadata"},
		{name: "epochs unreadable", changes: map[string][]byte{"dir0/" + partition + "leader-epoch-checkpoint": text("9\n")}, stop: "leader-epoch-checkpoint"},
		{name: "bootstrap.checkpoint corrupt", changes: map[string][]byte{"dir0/bootstrap.checkpoint": append([]byte{}, append(make([]byte, 61), 1, 2, 3)...)}, stop: "bootstrap.checkpoint"},
		{name: "bootstrap.checkpoint of the data directory corrupt", changes: map[string][]byte{"dir1/bootstrap.checkpoint": make([]byte, 61)},
			missing: "dir1/bootstrap.checkpoint: "},
		{name: "level that the release does not know", release: "3.3", stop: "metadata.version 22"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, v := bootTree(t, with(used, c.changes), FromOptions{Release: c.release})
			switch {
			case c.stop != "":
				require.NotEmpty(t, v.Stopped)
				require.Contains(t, v.Stopped[0].Error, c.stop)
				require.True(t, v.Outcome.Finding())
				require.Contains(t, r.Missing, "node 7 does not run")
			case c.missing != "":
				require.Equal(t, plan.OK, v.Outcome, "%v", v.Broken)
				require.Len(t, r.Missing, 1)
				require.Contains(t, r.Missing[0], c.missing)
			default:
				requireUp(t, r, v)
			}
		})
	}
}

// TestFromStrayDirectory: an empty partition directory is a stray log, too, and alone it makes the metadata directory.
func TestFromStrayDirectory(t *testing.T) {
	static := formatted(t, "4.0", 2, nil)
	static["dir1/__cluster_metadata-0"] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
	r, v := bootTree(t, static, FromOptions{})
	requireUp(t, r, v)
	require.Contains(t, exported(r), "dir1/"+partition+firstSegment)
	require.NotContains(t, exported(r), "dir0/"+partition+firstSegment)

	dynamic := formatted(t, "4.0", 2, standalone)
	dynamic["dir1/__cluster_metadata-0"] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
	_, v = bootTree(t, dynamic, FromOptions{})
	require.NotEmpty(t, v.Stopped)
	require.Contains(t, v.Stopped[0].Error, "dir1/__cluster_metadata-0")
}

// TestFromBrokenIdentity: without any readable meta.properties it is still the node that refuses.
func TestFromBrokenIdentity(t *testing.T) {
	tree := formatted(t, "4.0", 1, nil)
	for _, release := range []string{"", "kip1262"} {
		_, v := bootTree(t, with(tree, map[string][]byte{"dir0/meta.properties": []byte("version=1\n")}), FromOptions{Release: release})
		require.NotEmpty(t, v.Stopped)
		require.Contains(t, v.Stopped[0].Error, "meta.properties")
	}
}

// TestFromRefused: what is no node's storage is refused with one line that names file and field.
func TestFromRefused(t *testing.T) {
	good := formatted(t, "kip1262", 1, standalone)
	check := "dir0/" + partition + "00000000000000000000-0000000000.checkpoint"
	versioned := controlBatch(record.KRaftVersion, (&record.KRaftVersionRecord{KRaftVersion: 1}).AppendTo(nil))
	three := formatted(t, "kip1262", 1, dynamicOf("7@a:9093:"+uuidText(7)+",8@a:9093:"+uuidText(8)))
	data := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for _, c := range []struct {
		name    string
		tree    fs.FS
		options FromOptions
		want    string
	}{
		{"empty", fstest.MapFS{}, FromOptions{}, "D: log directories: there are none"},
		{"files only", fstest.MapFS{"a": data("x"), "b": data("y")}, FromOptions{}, "D: log directories: there are none"},
		{"folders of something else", fstest.MapFS{"a/x": data("x"), "b/c/y": data("y")}, FromOptions{}, "D: meta.properties: no log directory has one"},
		{"several nodes", fstest.MapFS{"n1/dir0/meta.properties": data("x")}, FromOptions{}, "D: meta.properties: no log directory has one"},
		{"no node id", fstest.MapFS{"dir0/meta.properties": data("version=0\n")}, FromOptions{}, "D/dir0: meta.properties node.id: no readable file names one"},
		{"negative node id", fstest.MapFS{"dir0/meta.properties": data("version=1\nnode.id=-3\ncluster.id=x\n")}, FromOptions{}, "node.id: -3 is negative"},
		{"a log without meta.properties", fstest.MapFS{"dir0/" + partition + firstSegment: data("")}, FromOptions{}, "D/dir0: meta.properties: missing beside __cluster_metadata-0"},
		{"unreadable file", unreadable{good, "dir0/meta.properties"}, FromOptions{}, "D/dir0/meta.properties: content: cannot be read: permission denied"},
		{"unreadable folder", unreadable{good, "dir0"}, FromOptions{}, "D/dir0: content: cannot be read: permission denied"},
		{"folder in the partition", fstest.MapFS{"dir0/meta.properties": data("x"), "dir0/" + partition + "a/b": data("x")}, FromOptions{}, "D/dir0/__cluster_metadata-0/a: type: a directory"},
		{"a partition", fstest.MapFS{"quorum-state": data("{}")}, FromOptions{}, "D: log directories: these are the files of a __cluster_metadata-0: name the log directory above it"},
		{"a log without voters", with(good, map[string][]byte{check: nil, "dir0/" + partition + firstSegment: versioned}), FromOptions{},
			"D/dir0/__cluster_metadata-0/00000000000000000000.log: voters: kraft.version is 1, but there is no voter set"},
		{"release", good, FromOptions{Release: "9"}, `--release: name: features: unknown release "9"`},
		{"voters of a dynamic quorum", good, FromOptions{Voters: "1@a:1"}, "--voters: value: the storage has a voter set of its own"},
		{"voters", formatted(t, "4.0", 1, nil), FromOptions{Voters: "1"}, `--voters: value: voters: bad controller.quorum.voters: "1" is not id@host:port`},
		{"one address twice", three, FromOptions{}, "D: voters: voters 7 and 8 have one address, a:9093"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Where = "D"
			_, err := PlanFrom(c.tree, 1, c.options)
			require.ErrorIs(t, err, plan.ErrInput)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

// controlBatch is a batch of one control record at offset 0 in epoch 1.
func controlBatch(kind record.ControlType, value []byte) []byte {
	var b record.Builder
	b.Reset(nil, record.BatchSpec{LeaderEpoch: 1, Control: true})
	b.AddControl(kind, value)
	return b.Finish()
}

// unreadable is a tree with one file or folder that may not be read.
type unreadable struct {
	fstest.MapFS
	name string
}

func (u unreadable) Open(name string) (fs.File, error) {
	if name == u.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.MapFS.Open(name)
}

func (u unreadable) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == u.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.MapFS.ReadDir(name)
}

// TestFromLeavesTopicsAlone: partitions of other topics are neither read nor exported.
func TestFromLeavesTopicsAlone(t *testing.T) {
	tree := with(formatted(t, "4.0", 1, standalone), map[string][]byte{"dir0/topic-0/" + firstSegment: []byte("x"), "dir0/.kafka_cleanshutdown": []byte("{}")})
	r, v := bootTree(t, unreadable{tree, "dir0/topic-0/" + firstSegment}, FromOptions{})
	requireUp(t, r, v)
	require.Contains(t, exported(r), "dir0/.kafka_cleanshutdown")
	require.NotContains(t, exported(r), "dir0/topic-0/"+firstSegment)
}

// TestResultOfFromNeedsARun: there is nothing to look at before a run, or after one without a tree.
func TestResultOfFromNeedsARun(t *testing.T) {
	_, err := ResultOfFrom(Catalogue())
	require.ErrorIs(t, err, ErrNotFrom)
}

// TestFromExaminesFiles: each damage to what came out is told.
func TestFromExaminesFiles(t *testing.T) {
	r, _ := bootTree(t, formatted(t, "4.0", 1, standalone), FromOptions{})
	for _, name := range []string{"meta.properties", "bootstrap.checkpoint", partition + "quorum-state", partition + firstSegment,
		partition + "00000000000000000000-0000000000.checkpoint", partition + "leader-epoch-checkpoint", partition + "partition.metadata"} {
		t.Run(strings.TrimPrefix(name, partition), func(t *testing.T) {
			damaged := *r
			damaged.Files = nil
			for _, f := range r.Files {
				if f.Path == "dir0/"+name {
					f.Content = append([]byte{}, f.Content...)
					for i := range f.Content {
						f.Content[i] ^= 0x55
					}
				}
				damaged.Files = append(damaged.Files, f)
			}
			damaged.examine([]string{"dir0"}, "dir0")
			require.NotEmpty(t, damaged.Missing)
			require.Contains(t, fmt.Sprint(damaged.Missing), strings.TrimPrefix(name, partition))
		})
	}
}
