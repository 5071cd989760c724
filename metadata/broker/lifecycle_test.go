package broker

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/raft/record"
)

const ms int64 = 1_000_000

// wire is a channel that keeps what it is given.
type wire struct {
	registrations []*controller.BrokerRegistration
	beats         []*controller.BrokerHeartbeat
	out           int
	applied       int64
}

func (w *wire) Register(r *controller.BrokerRegistration) {
	w.registrations = append(w.registrations, r)
	w.out++
}

func (w *wire) Heartbeat(h *controller.BrokerHeartbeat) {
	w.beats = append(w.beats, h)
	w.out++
}

func (w *wire) last() *controller.BrokerHeartbeat { return w.beats[len(w.beats)-1] }

func dir(n byte) record.UUID { return record.UUID{0: n, 15: 1} }

func config() Config {
	return Config{
		BrokerID: 1, ClusterID: "X", IncarnationID: dir(9), LogDirs: []record.UUID{dir(2), dir(1)}, PreviousBrokerEpoch: -1, RequestVersion: 4,
		HeartbeatIntervalNs: 2000 * ms, RegistrationTimeoutNs: 60_000 * ms, BackoffNs: 100 * ms, BackoffMaxNs: 9000 * ms,
	}
}

func start(t require.TestingT, cfg Config) (*Lifecycle, *wire) {
	w := &wire{applied: -1}
	l, err := New(cfg, Deps{Channel: w, AppliedOffset: func() int64 { return w.applied }})
	require.NoError(t, err)
	require.NoError(t, l.Start(0))
	return l, w
}

func answer(t *testing.T, l *Lifecycle, w *wire, nowNs int64, a Answer) {
	t.Helper()
	require.Positive(t, w.out, "no request is out")
	w.out--
	require.NoError(t, l.Answered(nowNs, &a))
}

func yes(r controller.BrokerReply) Answer { return Answer{Reply: r} }

// running is a broker that has come that far.
func running(t *testing.T) (*Lifecycle, *wire) {
	t.Helper()
	l, w := start(t, config())
	answer(t, l, w, 0, yes(controller.BrokerReply{BrokerEpoch: 5}))
	answer(t, l, w, 0, yes(controller.BrokerReply{IsCaughtUp: true, IsFenced: true}))
	answer(t, l, w, 0, yes(controller.BrokerReply{IsCaughtUp: true, IsFenced: true}))
	require.NoError(t, l.FirstPublish(0))
	answer(t, l, w, 0, yes(controller.BrokerReply{IsCaughtUp: true}))
	require.Equal(t, Running, l.State())
	return l, w
}

func TestStartOrder(t *testing.T) {
	l, w := start(t, config())
	require.Equal(t, Starting, l.State())
	require.Len(t, w.registrations, 1)
	r := w.registrations[0]
	require.Equal(t, []record.UUID{dir(1), dir(2)}, r.LogDirs)
	require.Equal(t, "X", r.ClusterID)
	answer(t, l, w, 10, yes(controller.BrokerReply{BrokerEpoch: 5}))
	require.Equal(t, int64(5), l.Epoch())
	require.Equal(t, controller.BrokerHeartbeat{BrokerID: 1, BrokerEpoch: 5, CurrentMetadataOffset: -1, WantFence: true}, *w.last())
	answer(t, l, w, 20, yes(controller.BrokerReply{IsFenced: true}))
	require.Equal(t, Starting, l.State(), "not caught up")
	require.Equal(t, 20+2000*ms, l.DeadlineNs())
	require.NoError(t, l.FirstPublish(30))
	require.Len(t, w.beats, 1, "published, and not caught up")
	w.applied = 7
	require.NoError(t, l.Poll(20+2000*ms))
	require.Equal(t, int64(7), w.last().CurrentMetadataOffset)
	require.True(t, w.last().WantFence)
	answer(t, l, w, 40, yes(controller.BrokerReply{IsCaughtUp: true, IsFenced: true}))
	require.Equal(t, Recovery, l.State())
	require.False(t, w.last().WantFence, "caught up and published: at once")
	answer(t, l, w, 50, yes(controller.BrokerReply{IsCaughtUp: true, IsFenced: true}))
	require.Equal(t, Recovery, l.State())
	require.NoError(t, l.Poll(50+2000*ms))
	answer(t, l, w, 50+2000*ms, yes(controller.BrokerReply{IsCaughtUp: true}))
	require.Equal(t, Running, l.State())
}

func TestRegistrationWaitsForClusterID(t *testing.T) {
	cfg := config()
	cfg.ClusterID = ""
	l, w := start(t, cfg)
	require.Empty(t, w.registrations)
	require.Equal(t, 60_000*ms, l.DeadlineNs())
	require.NoError(t, l.SetClusterID(5, "Y"))
	require.Equal(t, "Y", w.registrations[0].ClusterID)
	require.ErrorIs(t, l.Poll(60_000*ms), ErrRegistration)
}

func TestFailuresBackOff(t *testing.T) {
	l, w := start(t, config())
	now := int64(0)
	for _, want := range []int64{100, 200, 400, 800, 1600, 3200, 6400, 9000, 9000} {
		answer(t, l, w, now, Answer{Lost: want%200 == 0, Code: controller.DuplicateBrokerRegistration})
		require.Equal(t, now+want*ms, l.DeadlineNs())
		require.NoError(t, l.Poll(l.DeadlineNs()-1))
		require.Zero(t, w.out)
		now = l.DeadlineNs()
		require.NoError(t, l.Poll(now))
	}
	answer(t, l, w, now, yes(controller.BrokerReply{BrokerEpoch: 5}))
	answer(t, l, w, now, Answer{Code: controller.StaleBrokerEpoch})
	require.Equal(t, now+100*ms, l.DeadlineNs(), "from the beginning after a success")
	require.NoError(t, l.Poll(now+100*ms))
	require.Equal(t, int64(5), w.last().BrokerEpoch, "a stale epoch is repeated, as Kafka does")
	for _, r := range w.registrations {
		require.Equal(t, w.registrations[0], r, "one incarnation")
	}
}

func TestControlledShutdown(t *testing.T) {
	l, w := running(t)
	require.NoError(t, l.BeginControlledShutdown(ms))
	require.Equal(t, PendingControlledShutdown, l.State())
	require.True(t, w.last().WantShutDown)
	require.NoError(t, l.BeginControlledShutdown(ms))
	require.Equal(t, 1, w.out, "asked once")
	answer(t, l, w, 2*ms, yes(controller.BrokerReply{InControlledShutdown: true}))
	require.Equal(t, 52*ms, l.DeadlineNs(), "the first refusal is asked about soon")
	require.NoError(t, l.Poll(52*ms))
	answer(t, l, w, 53*ms, yes(controller.BrokerReply{InControlledShutdown: true}))
	require.Equal(t, 2053*ms, l.DeadlineNs())
	require.NoError(t, l.Poll(2053*ms))
	answer(t, l, w, 2054*ms, yes(controller.BrokerReply{ShouldShutDown: true, IsFenced: true}))
	require.Equal(t, ShuttingDown, l.State())
	require.Equal(t, noDeadline, l.DeadlineNs())

	l, w = start(t, config())
	require.NoError(t, l.BeginControlledShutdown(1))
	require.Equal(t, ShuttingDown, l.State(), "nothing to hand over before it runs")
	answer(t, l, w, 2, yes(controller.BrokerReply{BrokerEpoch: 5}))
	require.Empty(t, w.beats)
}

func TestDirectoriesGoOffline(t *testing.T) {
	l, w := running(t)
	require.NoError(t, l.DirectoryFailed(1, dir(7)), "none of its own")
	require.Zero(t, w.out)
	require.NoError(t, l.DirectoryFailed(1, dir(2)))
	require.Equal(t, []record.UUID{dir(2)}, w.last().OfflineLogDirs)
	require.NoError(t, l.DirectoryFailed(1, dir(2)))
	require.Equal(t, 1, w.out)
	require.ErrorIs(t, l.DirectoryFailed(1, dir(1)), ErrNoLogDirs)
}

func TestReregister(t *testing.T) {
	l, w := running(t)
	require.NoError(t, l.Poll(l.DeadlineNs()))
	require.NoError(t, l.Reregister(3000*ms))
	require.Len(t, w.registrations, 1, "a heartbeat is out")
	answer(t, l, w, 3001*ms, yes(controller.BrokerReply{IsCaughtUp: true}))
	require.Len(t, w.registrations, 2)
	require.Equal(t, w.registrations[0].IncarnationID, w.registrations[1].IncarnationID)
	answer(t, l, w, 3002*ms, yes(controller.BrokerReply{BrokerEpoch: 5}))
	require.Equal(t, Running, l.State())
	require.False(t, w.last().WantFence)
}

// A directory that is offline is not registered again.
func TestReregisterWithoutWhatIsOffline(t *testing.T) {
	l, w := running(t)
	require.Len(t, w.registrations[0].LogDirs, 2)
	require.NoError(t, l.DirectoryFailed(1, dir(2)))
	answer(t, l, w, 2, yes(controller.BrokerReply{IsCaughtUp: true}))
	require.NoError(t, l.Reregister(3))
	require.Len(t, w.registrations, 2)
	require.Equal(t, []record.UUID{dir(1)}, w.registrations[1].LogDirs)
}

func TestConfigIsChecked(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"id": func(c *Config) { c.BrokerID = -1 }, "dirs": func(c *Config) { c.LogDirs = nil },
		"interval": func(c *Config) { c.HeartbeatIntervalNs = 0 }, "backoff": func(c *Config) { c.BackoffMaxNs = 1 },
	} {
		cfg := config()
		change(&cfg)
		_, err := New(cfg, Deps{})
		require.ErrorIs(t, err, ErrConfig, name)
	}
	for s := NotRunning; s <= ShuttingDown; s++ {
		require.NotContains(t, s.String(), "state ")
	}
}

// Whatever the controller answers and whenever: one request is out at a time, never before its time, and the broker that wants no
// fence has caught up and published.
func TestOneRequestAtATimeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, w := start(t, config())
		now, published := int64(0), false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += rapid.Int64Range(0, 3000).Draw(t, "ms") * ms
			var err error
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				if w.out > 0 {
					w.out--
					err = l.Answered(now, &Answer{Lost: rapid.Bool().Draw(t, "lost"), Reply: controller.BrokerReply{
						BrokerEpoch: 5, IsCaughtUp: rapid.Bool().Draw(t, "caught up"), IsFenced: rapid.Bool().Draw(t, "fenced"),
					}})
				}
			case 2:
				err = l.Poll(now)
			case 3:
				published = true
				err = l.FirstPublish(now)
			case 4:
				err = l.Reregister(now)
			}
			if err != nil {
				require.ErrorIs(t, err, ErrRegistration)
				return
			}
			require.LessOrEqual(t, w.out, 1)
			require.Equal(t, w.out == 0 || l.giveUpNs != noDeadline, l.DeadlineNs() != noDeadline, "it never falls silent")
			if len(w.beats) > 0 && !w.last().WantFence {
				require.True(t, published)
				require.GreaterOrEqual(t, l.State(), Recovery)
			}
		}
	})
}
