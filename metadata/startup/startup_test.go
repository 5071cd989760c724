package startup

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/stretchr/testify/require"
)

type props = map[string]metaprops.Properties

// TestStarts are the starts that succeed, by what lies in the two directories (metadata-bootstrap 2.4, 2.5, 4.10).
func TestStarts(t *testing.T) {
	for _, c := range []struct {
		name    string
		policy  SelfFormat
		on      props
		edit    func(m *filestest.Memory, c *Config)
		cluster string
		a, b    metaprops.Properties // afterwards; directory id zero: a new one
		states  []string
		writes  bool
	}{
		{name: "formatted", policy: Never, on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, cluster: idX, a: v1(idX, 1), b: v1(idX, 2)},
		{name: "formatted, new software", policy: UnlessBootstrap, on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, cluster: idX,
			a: v1(idX, 1), b: v1(idX, 2)},
		{name: "version 0 is kept and gets a directory id", policy: Never, on: props{dirA: v0(idX), dirB: v1(idX, 2)}, cluster: idX,
			a: v0(idX), b: v1(idX, 2), writes: true},
		{name: "no directory id", policy: Never, on: props{dirA: v1(idX, 0), dirB: v1(idX, 0)}, cluster: idX, a: v1(idX, 0), b: v1(idX, 0), writes: true},
		{name: "a failed data directory", policy: Never, on: props{dirA: v1(idX, 1)}, cluster: idX, a: v1(idX, 1),
			edit:   func(m *filestest.Memory, _ *Config) { m.Put(metaprops.Path(dirB), "version=x\n") },
			states: []string{"/a loaded", "/b failed"}},
		{name: "an unreadable data directory", policy: Never, on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, cluster: idX, a: v1(idX, 1), b: v1(idX, 2),
			edit:   func(m *filestest.Memory, _ *Config) { m.Refuse[metaprops.Path(dirB)] = syscall.EIO },
			states: []string{"/a loaded", "/b failed"}},
		{name: "T4: a data directory that cannot be written", policy: Never, on: props{dirA: v1(idX, 0), dirB: v1(idX, 0)}, cluster: idX, a: v1(idX, 0),
			edit: func(m *filestest.Memory, _ *Config) {
				m.Refuse[metaprops.Path(dirB)+".tmp"] = syscall.EIO
			}, b: v1(idX, 0), states: []string{"/a loaded", "/b failed"}, writes: true},
		{name: "V2 read by old software in a data directory", policy: Never, on: props{dirA: v1(idX, 1), dirB: v2("", 2)}, cluster: idX,
			a: v1(idX, 1), b: v2("", 2), states: []string{"/a loaded", "/b failed"}},
		{name: "unformatted broker", policy: UnlessBootstrap, a: v2("", 0), b: v2("", 0), writes: true,
			edit: func(_ *filestest.Memory, c *Config) { c.Controller = false }},
		{name: "unformatted observer controller", policy: UnlessBootstrap, a: v2("", 0), b: v2("", 0), writes: true},
		{name: "unformatted observer beside a checkpoint of others", policy: UnlessBootstrap, a: v2("", 0), b: v2("", 0), writes: true,
			edit: func(m *filestest.Memory, _ *Config) { m.Put(bootstrap.CheckpointPath(dirA), checkpoint(2, 3)) }},
		{name: "unformatted static voter, final-apr", policy: UnlessDynamic, a: v2("", 0), b: v2("", 0), writes: true,
			edit: func(_ *filestest.Memory, c *Config) { c.StaticVoter = true }},
		{name: "T27, draft: the voter formats itself", policy: Always, a: v2("", 0), b: v2("", 0), writes: true,
			edit: func(_ *filestest.Memory, c *Config) { c.StaticVoter = true }},
		{name: "T30: the known id goes to the empty directory", policy: UnlessBootstrap, on: props{dirA: v1(idX, 1)}, cluster: idX, a: v1(idX, 1),
			b: v1(idX, 0), writes: true},
		{name: "T30: of a static voter, too", policy: UnlessBootstrap, on: props{dirA: v1(idX, 1)}, cluster: idX, a: v1(idX, 1), b: v1(idX, 0), writes: true,
			edit: func(_ *filestest.Memory, c *Config) { c.StaticVoter = true }},
		{name: "T1: the id in A only", policy: UnlessBootstrap, on: props{dirA: v1(idX, 1), dirB: v2("", 2)}, cluster: idX, a: v1(idX, 1), b: v1(idX, 2), writes: true},
		{name: "T1: the id in B only", policy: Always, on: props{dirA: v2("", 1), dirB: v1(idX, 2)}, cluster: idX, a: v1(idX, 1), b: v1(idX, 2), writes: true},
		{name: "T3: no id yet", policy: UnlessBootstrap, on: props{dirA: v2("", 1), dirB: v2("", 2)}, a: v2("", 1), b: v2("", 2)},
		{name: "T29, draft: a new identity over an old log", policy: Always, a: v2("", 0), b: v2("", 0), writes: true,
			edit: func(m *filestest.Memory, _ *Config) { putLog(m, dirA) }},
		{name: "V2 with an id stays", policy: UnlessBootstrap, on: props{dirA: v2(idX, 1), dirB: v2(idX, 2)}, cluster: idX, a: v2(idX, 1), b: v2(idX, 2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, cfg := disk(t, c.on), config(t, c.policy)
			if c.edit != nil {
				c.edit(m, &cfg)
			}
			n, err := Run(m, cfg)
			require.NoError(t, err)
			require.Equal(t, c.cluster, n.ClusterID)
			require.Equal(t, c.writes, len(writes(m)) > 0)
			if c.states == nil {
				c.states = []string{"/a loaded", "/b loaded"}
			}
			require.Equal(t, c.states, dirs(n))
			own, ok := n.Directories.DirectoryID(dirA)
			require.True(t, ok)
			require.Equal(t, own, n.DirectoryID)
			requireStored(t, m, dirA, &c.a)
			if c.b.HasNodeID {
				m.Refuse = map[string]error{}
				if c.states[1] == "/b loaded" {
					requireStored(t, m, dirB, &c.b)
				} else {
					require.Equal(t, &c.b, stored(t, m, dirB), "a failed directory is left alone")
				}
			}
			requireSettled(t, m, cfg, n)
		})
	}
}

// requireStored compares a file with what it must say; a zero directory id stands for any proper one.
func requireStored(t *testing.T, m *filestest.Memory, dir string, want *metaprops.Properties) {
	t.Helper()
	got := stored(t, m, dir)
	require.NotNil(t, got, dir)
	require.True(t, got.HasDirectoryID)
	require.False(t, got.DirectoryID.IsReserved())
	if !want.HasDirectoryID {
		got.HasDirectoryID, got.DirectoryID = false, want.DirectoryID
	}
	require.Equal(t, want, got)
}

// requireSettled starts again: the same identity, and nothing is written.
func requireSettled(t *testing.T, m *filestest.Memory, cfg Config, first *Node) {
	t.Helper()
	if first.Directories.Directories[1].State == metaprops.Failed {
		return
	}
	m.Journal = nil
	again, err := Run(m, cfg)
	require.NoError(t, err)
	require.Empty(t, writes(m))
	require.Equal(t, first, again)
}

// writes are the operations that change something: start-up syncs the directories that it read, changed or not.
func writes(m *filestest.Memory) (changes []string) {
	for _, op := range m.Journal {
		if !strings.HasPrefix(op, "syncdir /") {
			changes = append(changes, op)
		}
	}
	return changes
}

// putLog leaves a metadata log with its election state.
func putLog(m *filestest.Memory, dir string) {
	m.Put(bootstrap.PartitionPath(dir)+"/00000000000000000000.log", "")
	m.Put(bootstrap.PartitionPath(dir)+"/quorum-state", `{"leaderId":-1,"leaderEpoch":2,"votedId":-1,"appliedOffset":0,"currentVoters":[],"data_version":0}`)
}

// TestRefusals are the starts that fail, and why. None of them writes anything.
func TestRefusals(t *testing.T) {
	broken := "directory.id=nonsense\nversion=1\nnode.id=1\ncluster.id=x\n"
	for _, c := range []struct {
		name   string
		policy SelfFormat
		on     props
		edit   func(m *filestest.Memory, c *Config)
		err    error
		text   string
	}{
		{name: "nothing formatted", policy: Never, err: metaprops.ErrNoneValid, text: "kafka-storage"},
		{name: "a directory not formatted", policy: Never, on: props{dirA: v1(idX, 1)}, err: ErrNotFormatted, text: dirB},
		{name: "the metadata directory not formatted", policy: Never, on: props{dirB: v1(idX, 1)}, err: ErrNotFormatted, text: dirA},
		{name: "T2: two cluster ids", policy: Never, on: props{dirA: v1(idX, 1), dirB: v1(idY, 2)}, err: metaprops.ErrClusterID, text: idY},
		{name: "T2: two cluster ids, draft", policy: Always, on: props{dirA: v2(idX, 1), dirB: v1(idY, 2)}, err: metaprops.ErrClusterID},
		{name: "another node", policy: Never, on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, err: metaprops.ErrNodeID,
			edit: func(_ *filestest.Memory, c *Config) { c.NodeID = 2 }},
		{name: "one directory id twice", policy: Never, on: props{dirA: v1(idX, 1), dirB: v1(idX, 1)}, err: metaprops.ErrDuplicateDirectory},
		{name: "reserved directory id", policy: Never, on: props{dirA: v1(idX, 1), dirB: reserved()}, err: metaprops.ErrReservedDirectoryID},
		{name: "metadata directory broken", policy: Never, on: props{dirB: v1(idX, 2)}, err: metaprops.ErrMetadataDirFailed,
			edit: func(m *filestest.Memory, _ *Config) { m.Put(metaprops.Path(dirA), broken) }},
		{name: "metadata directory broken, draft", policy: Always, on: props{dirB: v1(idX, 2)}, err: metaprops.ErrMetadataDirFailed,
			edit: func(m *filestest.Memory, _ *Config) { m.Put(metaprops.Path(dirA), broken) }},
		{name: "metadata directory unreadable", policy: Never, on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, err: syscall.EIO,
			edit: func(m *filestest.Memory, _ *Config) { m.Refuse[metaprops.Path(dirA)] = syscall.EIO }},
		{name: "V2 read by old software", policy: Never, on: props{dirA: v2("", 1), dirB: v1(idX, 2)}, err: metaprops.ErrMetadataDirFailed, text: "version 2"},
		{name: "V2 read by old software in a cluster of new software", policy: Always, on: props{dirA: v2(idX, 1), dirB: v1(idX, 2)},
			err: metaprops.ErrMetadataDirFailed, edit: func(_ *filestest.Memory, c *Config) {
				c.Release, _ = features.Find("4.0")
			}},
		{name: "old software does not format itself", policy: Always, err: metaprops.ErrNoneValid, edit: func(_ *filestest.Memory, c *Config) {
			c.Release, _ = features.Find("4.0")
		}},
		{name: "version 0 without cluster id", policy: Never, on: props{dirA: v0(""), dirB: v1(idX, 2)}, err: ErrIncomplete, text: "cluster id"},
		{name: "version 0 without node id", policy: Never, on: props{dirA: noNode(), dirB: v1(idX, 2)}, err: ErrIncomplete, text: "node id"},
		{name: "stray log", policy: Never, on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, err: ErrStrayLog, text: bootstrap.PartitionPath(dirB),
			edit: func(m *filestest.Memory, _ *Config) { putLog(m, dirB) }},
		{name: "stray log, draft", policy: Always, on: props{dirA: v1(idX, 1)}, err: ErrStrayLog,
			edit: func(m *filestest.Memory, _ *Config) { putLog(m, dirB) }},
		{name: "broken bootstrap.checkpoint", policy: Never, on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, err: bootstrap.ErrCheckpoint,
			edit: func(m *filestest.Memory, _ *Config) {
				m.Put(bootstrap.Path(dirA), level(22)[:61]+"\x7f"+level(22)[62:])
			}},
		{name: "broken bootstrap.checkpoint of a broker", policy: Never, on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, err: bootstrap.ErrCheckpoint,
			edit: func(m *filestest.Memory, c *Config) {
				c.Controller = false
				m.Put(bootstrap.Path(dirA), level(22)[:61]+"\x7f"+level(22)[62:])
			}},
		{name: "bootstrap.checkpoint too old", policy: Never, on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, err: bootstrap.ErrOldVersion,
			edit: func(m *filestest.Memory, _ *Config) { m.Put(bootstrap.Path(dirA), level(3)) }},
		{name: "no metadata directory", policy: Never, on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, err: metaprops.ErrNoMetadataDir,
			edit: func(_ *filestest.Memory, c *Config) { c.MetadataDir = "" }},
		{name: "final-mar: static voter without id", policy: UnlessBootstrap, err: ErrNoClusterID,
			edit: func(_ *filestest.Memory, c *Config) { c.StaticVoter = true }},
		{name: "final-mar: static voter with version 2 and no id", policy: UnlessBootstrap, on: props{dirA: v2("", 1), dirB: v2("", 2)}, err: ErrNoClusterID,
			edit: func(_ *filestest.Memory, c *Config) { c.StaticVoter = true }},
		{name: "final-mar: initial controller without id", policy: UnlessBootstrap, err: ErrNoClusterID,
			edit: func(m *filestest.Memory, _ *Config) { m.Put(bootstrap.CheckpointPath(dirA), checkpoint(1, 2, 3)) }},
		{name: "final-apr: initial controller without id", policy: UnlessDynamic, err: ErrNoClusterID,
			edit: func(m *filestest.Memory, _ *Config) { m.Put(bootstrap.CheckpointPath(dirA), checkpoint(1, 2, 3)) }},
		{name: "T27, final-mar: metadata directory lost", policy: UnlessBootstrap, on: props{dirB: v1(idX, 2)}, err: ErrNotFormatted, text: dirA,
			edit: func(_ *filestest.Memory, c *Config) { c.StaticVoter = true }},
		{name: "T29, released: a log without meta.properties", policy: Never, on: props{dirB: v1(idX, 2)}, err: ErrNotFormatted, text: dirA,
			edit: func(m *filestest.Memory, _ *Config) { putLog(m, dirA) }},
		{name: "T29, final-mar: a voter's log without meta.properties", policy: UnlessBootstrap, on: props{dirB: v1(idX, 2)}, err: ErrNotFormatted, text: dirA,
			edit: func(m *filestest.Memory, _ *Config) {
				putLog(m, dirA)
				m.Put(bootstrap.CheckpointPath(dirA), checkpoint(1))
			}},
		{name: "broken 0-0.checkpoint of an unformatted controller", policy: UnlessBootstrap, err: bootstrap.ErrCheckpoint,
			edit: func(m *filestest.Memory, _ *Config) {
				m.Put(bootstrap.CheckpointPath(dirA), "nonsense that is longer than a batch header, much longer than that, indeed")
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, cfg := disk(t, c.on), config(t, c.policy)
			if c.edit != nil {
				c.edit(m, &cfg)
			}
			_, err := Run(m, cfg)
			require.ErrorIs(t, err, c.err)
			require.ErrorContains(t, err, c.text)
			require.Empty(t, m.Journal)
		})
	}
}

func reserved() metaprops.Properties {
	p := v1(idX, 2)
	p.DirectoryID = [16]byte{15: 2}
	return p
}

func noNode() metaprops.Properties {
	p := v0(idX)
	p.HasNodeID = false
	return p
}

// TestMetadataDirectoryMustBeWritable: T4, second half.
func TestMetadataDirectoryMustBeWritable(t *testing.T) {
	m := disk(t, props{dirA: v1(idX, 0), dirB: v1(idX, 0)})
	m.Refuse[metaprops.Path(dirA)+".tmp"] = syscall.ENOSPC
	_, err := Run(m, config(t, Never))
	require.ErrorIs(t, err, syscall.ENOSPC)
}

// TestBootstrapRecords: step 5, for controllers only.
func TestBootstrapRecords(t *testing.T) {
	formatted := props{dirA: v1(idX, 1), dirB: v1(idX, 2)}
	n, err := Run(disk(t, formatted), config(t, Never))
	require.NoError(t, err)
	require.Equal(t, release(t, "upstream-4.5").LatestProduction, n.Bootstrap.MetadataVersion(), "the default")

	m := disk(t, formatted)
	m.Put(bootstrap.Path(dirA), level(21))
	m.Put(bootstrap.Path(dirB), level(20)) // only that of the metadata directory counts
	n, err = Run(m, config(t, Never))
	require.NoError(t, err)
	require.Equal(t, int16(21), n.Bootstrap.MetadataVersion())

	broker := config(t, Never)
	broker.Controller = false
	n, err = Run(m, broker)
	require.NoError(t, err)
	require.Nil(t, n.Bootstrap)
}

// TestMetadataDirOfItsOwn: metadata.log.dir need not be one of log.dirs.
func TestMetadataDirOfItsOwn(t *testing.T) {
	m := disk(t, props{dirA: v1(idX, 1), dirB: v1(idX, 2), "/m": v1(idX, 3)})
	cfg := config(t, Never)
	cfg.MetadataDir = "/m"
	n, err := Run(m, cfg)
	require.NoError(t, err)
	require.Equal(t, uuid(3), n.DirectoryID)
	require.Len(t, n.Directories.Directories, 3)
}

// TestCrashAnywhere stops at each operation of a first start and starts again: the node must come to the identity that it
// would have had, and no directory may change an id that it has been given (T31).
func TestCrashAnywhere(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy SelfFormat
		on     props
	}{
		{"unformatted", Always, nil},
		{"one of two formatted", UnlessBootstrap, props{dirA: v1(idX, 1)}},
		{"ids missing", Never, props{dirA: v1(idX, 0), dirB: v1(idX, 0)}},
		{"T1", Always, props{dirA: v2("", 1), dirB: v1(idX, 2)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := disk(t, c.on)
			want, err := Run(whole, config(t, c.policy))
			require.NoError(t, err)
			require.Greater(t, whole.Count, int64(10))
			for k := int64(1); k <= whole.Count; k++ {
				m := disk(t, c.on)
				m.StopAt = k
				_, err := Run(m, config(t, c.policy))
				if err != nil && !errors.Is(err, filestest.ErrStopped) {
					require.Error(t, err) // the stop may look like a failed directory
				}
				given := map[string]metaprops.Properties{}
				for _, dir := range []string{dirA, dirB} {
					if p := stored(t, m, dir); p != nil && p.HasDirectoryID {
						given[dir] = *p
					}
				}
				m.StopAt = 0
				got, err := Run(m, config(t, c.policy))
				require.NoError(t, err, "stopped at operation %d", k)
				require.Equal(t, want, got, "stopped at operation %d", k)
				for dir, p := range given {
					require.Equal(t, p.DirectoryID, stored(t, m, dir).DirectoryID)
				}
			}
		})
	}
}

// TestWhatWasReadIsMadeDurable: a file that is whole may be there by name only, from a process that was killed before it synced the directory.
func TestWhatWasReadIsMadeDurable(t *testing.T) {
	for _, policy := range []SelfFormat{Never, Always} {
		m := disk(t, props{dirA: v1("X", 1), dirB: v1("X", 2)})
		_, err := Run(m, config(t, policy))
		require.NoError(t, err)
		require.Equal(t, []string{"syncdir " + dirA, "syncdir " + dirB}, m.Journal)
	}
}

// TestDurableBeforeRaftOpens: each file is synced, renamed, and its directory synced, one directory after the other.
func TestDurableBeforeRaftOpens(t *testing.T) {
	m := disk(t, nil)
	_, err := Run(m, config(t, Always))
	require.NoError(t, err)
	require.Equal(t, []string{
		"syncdir ", "sync /a/meta.properties.tmp", "rename /a/meta.properties", "syncdir /a",
		"syncdir ", "sync /b/meta.properties.tmp", "rename /b/meta.properties", "syncdir /b",
	}, m.Journal)
}
