package startup

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/stretchr/testify/require"
)

// A metadata log that nothing vouches for: kept, refused or wiped (T6, T29).
func TestOldLog(t *testing.T) {
	broker := func(_ *filestest.Memory, c *Config) { c.Controller = false }
	log := func(m *filestest.Memory, _ *Config) { putLog(m, dirA) }
	for _, c := range []struct {
		name string
		on   props
		edit []func(*filestest.Memory, *Config)
		err  error
		left bool // the log is there afterwards
	}{
		{name: "T29 kept", edit: []func(*filestest.Memory, *Config){log}, left: true},
		{name: "T29 refused", edit: []func(*filestest.Memory, *Config){log, func(_ *filestest.Memory, c *Config) { c.OrphanLog = RefuseLog }},
			err: ErrOrphanLog, left: true},
		{name: "T29 wiped", edit: []func(*filestest.Memory, *Config){log, func(_ *filestest.Memory, c *Config) { c.OrphanLog = WipeLog }}},
		{name: "T29, a checkpoint is no log", edit: []func(*filestest.Memory, *Config){func(m *filestest.Memory, c *Config) {
			m.Put(bootstrap.CheckpointPath(dirA), checkpoint(2))
			c.OrphanLog = RefuseLog
		}}},
		{name: "T29 refused, nothing there", edit: []func(*filestest.Memory, *Config){func(_ *filestest.Memory, c *Config) { c.OrphanLog = RefuseLog }}},
		{name: "T6 kept", on: props{dirA: v2("", 1), dirB: v2("", 2)}, edit: []func(*filestest.Memory, *Config){log, broker}, left: true},
		{name: "T6 refused", on: props{dirA: v2("", 1), dirB: v2("", 2)}, edit: []func(*filestest.Memory, *Config){log, broker,
			func(_ *filestest.Memory, c *Config) { c.UnidentifiedLog = RefuseLog }}, err: ErrUnidentifiedLog, left: true},
		{name: "T6 wiped", on: props{dirA: v2("", 1), dirB: v2("", 2)}, edit: []func(*filestest.Memory, *Config){log, broker,
			func(_ *filestest.Memory, c *Config) { c.UnidentifiedLog = WipeLog }}},
		{name: "T6, a broker that knows its id", on: props{dirA: v1(idX, 1), dirB: v2("", 2)}, edit: []func(*filestest.Memory, *Config){log, broker,
			func(_ *filestest.Memory, c *Config) { c.UnidentifiedLog = WipeLog }}, left: true},
		{name: "T6, a controller", on: props{dirA: v2("", 1), dirB: v2("", 2)}, edit: []func(*filestest.Memory, *Config){log,
			func(_ *filestest.Memory, c *Config) { c.UnidentifiedLog = WipeLog }}, left: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, cfg := disk(t, c.on), config(t, Always)
			for _, edit := range c.edit {
				edit(m, &cfg)
			}
			_, err := Run(m, cfg)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.left, hasLog(m))
		})
	}
}

func hasLog(m *filestest.Memory) bool {
	for name := range m.Content {
		if strings.HasPrefix(name, bootstrap.PartitionPath(dirA)) && (strings.HasSuffix(name, ".log") || strings.HasSuffix(name, "quorum-state")) {
			return true
		}
	}
	return false
}

// TestWipeIsFinishedAfterACrash: wherever a start dies that wipes, the next one leaves no log.
func TestWipeIsFinishedAfterACrash(t *testing.T) {
	make := func() (*filestest.Memory, Config) {
		m, cfg := disk(t, props{dirA: v2("", 1), dirB: v2("", 2)}), config(t, Always)
		cfg.Controller, cfg.UnidentifiedLog = false, WipeLog
		putLog(m, dirA)
		return m, cfg
	}
	whole, cfg := make()
	_, err := Run(whole, cfg)
	require.NoError(t, err)
	require.Greater(t, whole.Count, int64(3))
	synced := slices.DeleteFunc(slices.Clone(whole.Journal), func(op string) bool { return op != "syncdir "+bootstrap.PartitionPath(dirA) })
	require.Len(t, synced, 2, "the log is durably gone before the election state goes, and that before anything else")
	for k := int64(1); k <= whole.Count; k++ {
		m, cfg := make()
		m.StopAt = k
		if _, err := Run(m, cfg); err != nil {
			require.True(t, errors.Is(err, filestest.ErrStopped), err)
		}
		m.StopAt = 0
		_, err := Run(m, cfg)
		require.NoError(t, err)
		require.False(t, hasLog(m), "stopped at operation %d", k)
	}
}

// TestVersionOfCompletedFiles: V1 unless told otherwise (4.9).
func TestVersionOfCompletedFiles(t *testing.T) {
	for _, version := range []int32{0, metaprops.V1, metaprops.V2} {
		m, cfg := disk(t, props{dirA: v1(idX, 1), dirB: v2("", 2)}), config(t, Always)
		cfg.Version = version
		_, err := Run(m, cfg)
		require.NoError(t, err)
		want := metaprops.V1
		if version == metaprops.V2 {
			want = metaprops.V2
		}
		require.Equal(t, want, stored(t, m, dirB).Version)
		require.Equal(t, idX, stored(t, m, dirB).ClusterID)
	}
}
