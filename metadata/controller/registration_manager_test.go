package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
)

func imageOf(t *testing.T, list ...records.Record) *image.Image {
	t.Helper()
	d := image.NewDelta(image.New())
	for _, r := range list {
		require.NoError(t, d.Replay(r))
	}
	return d.Apply(image.Provenance{})
}

func TestRegistrationManager(t *testing.T) {
	sent := 0
	m := NewRegistrationManager(RegistrationConfig{
		ControllerRegistration: ControllerRegistration{ControllerID: 3, IncarnationID: uuid(1)}, BackoffNs: 100, BackoffMaxNs: 350,
	}, func(r *ControllerRegistration) {
		require.Equal(t, uuid(1), r.IncarnationID)
		sent++
	})
	m.Published(0, imageOf(t, level(features.MetadataVersion, 14)))
	require.Equal(t, 0, sent, "no such thing at that level")
	require.Equal(t, noDeadline, m.DeadlineNs())

	old := &records.RegisterControllerRecord{ControllerId: 3, IncarnationId: uuid(9)}
	due := imageOf(t, level(features.MetadataVersion, 15), old)
	m.Published(0, due)
	require.Equal(t, 1, sent, "another incarnation is there")
	m.Published(1, due)
	require.Equal(t, 1, sent, "one request at a time")
	now := int64(1)
	for n, want := range []int64{100, 200, 350, 350} {
		m.Answered(now, false)
		require.Equal(t, now+want, m.DeadlineNs())
		m.Poll(now + want - 1)
		require.Equal(t, 1+n, sent)
		now += want
		m.Poll(now)
		require.Equal(t, 2+n, sent)
	}
	m.Answered(now, true)
	require.Equal(t, noDeadline, m.DeadlineNs(), "acknowledged, and on its way into the image")
	before := m.AppendState(nil, false)
	m.Published(now, imageOf(t, level(features.MetadataVersion, 15), &records.RegisterControllerRecord{ControllerId: 3, IncarnationId: uuid(1)}))
	require.NotEqual(t, before, m.AppendState(nil, false))
	require.Equal(t, 5, sent)
	m.Published(now, imageOf(t, level(features.MetadataVersion, 15)))
	require.Equal(t, 6, sent, "somebody unregistered it while it runs: it registers again (KB-32, trap)")
}

// TestRegistrationManagerWaitsForClusterID: a node that does not know the id of its cluster introduces itself to nobody (metadata-bootstrap 4.7).
func TestRegistrationManagerWaitsForClusterID(t *testing.T) {
	sent := 0
	m := NewRegistrationManager(RegistrationConfig{ControllerRegistration: ControllerRegistration{ControllerID: 3, IncarnationID: uuid(1)}, AwaitClusterID: true},
		func(*ControllerRegistration) { sent++ })
	m.Published(1, imageOf(t, level(features.MetadataVersion, 33)))
	require.Zero(t, sent)
	require.Equal(t, noDeadline, m.DeadlineNs())
	waiting := m.AppendState(nil, true)
	m.SetClusterID(2)
	require.NotEqual(t, waiting, m.AppendState(nil, true))
	require.Equal(t, 1, sent)
	m.Answered(3, true)
	m.SetClusterID(3)
	m.Poll(3)
	require.Equal(t, 1, sent, "it is told once")
}
