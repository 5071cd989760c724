package scenarios

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/broker"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
)

// member is a node's life as a registered one: on brokers a life cycle, on controllers a registration manager, never both.
type member struct {
	n         *node
	channel   memberChannel
	life      *broker.Lifecycle
	manager   *controller.RegistrationManager
	told      bool // an image was published
	level     int16
	img       *image.Image  // the last one that came
	refreshed int64         // the epoch that was registered again for its directories
	dirs      []record.UUID // by index of the directory, zero for those that are no log directory in use
	paths     []string      // of those directories, "" for the others
}

// openMember builds it, where the plan has members.
func (n *node) openMember(who *startup.Node) error {
	if !n.c.members.register {
		return nil
	}
	m := &member{n: n}
	m.channel = memberChannel{n: n, answered: m.answered}
	n.member = m
	ranges := announced(n.h)
	if n.h.kind != kindBroker {
		m.manager = controller.NewRegistrationManager(controller.RegistrationConfig{
			ControllerRegistration: controller.ControllerRegistration{
				ControllerID: n.h.nodeID, IncarnationID: n.incarnation(), Features: ranges,
				Listeners: []image.Endpoint{{Name: n.c.listener, Host: n.h.name, Port: n.h.port}},
			}, BackoffNs: n.c.timeouts.backoff * million, BackoffMaxNs: max(n.c.timeouts.backoff, n.c.members.sessionMs) * million,
			AwaitClusterID: n.clusterID == "" && !n.formattedEmpty,
		}, func(r *controller.ControllerRegistration) {
			m.channel.ask(n.env.MonotonicNs(), &memberRequest{from: n.h.nodeID, controller: r})
		})
	} else {
		var dirs []record.UUID
		m.dirs, m.paths = make([]record.UUID, len(who.Directories.Directories)), make([]string, len(who.Directories.Directories))
		for i := range who.Directories.Directories {
			if d := &who.Directories.Directories[i]; d.State == metaprops.Loaded && d.Properties.HasDirectoryID {
				dirs = append(dirs, d.Properties.DirectoryID)
				m.dirs[i], m.paths[i] = d.Properties.DirectoryID, d.Path
			}
		}
		life, err := broker.New(broker.Config{
			BrokerID: n.h.nodeID, ClusterID: who.ClusterID, IncarnationID: n.incarnation(), Features: ranges, LogDirs: dirs,
			Listeners:           []image.Endpoint{{Name: "PLAINTEXT", Host: n.h.name, Port: 9092}},
			PreviousBrokerEpoch: broker.TakeCleanShutdown(n.env.Files(), n.h.dirs, m.live()), RequestVersion: 4, HeartbeatIntervalNs: n.c.members.heartbeatMs * million,
			RegistrationTimeoutNs: n.c.members.registrationMs * million, BackoffNs: n.c.timeouts.backoff * million,
			BackoffMaxNs: max(n.c.timeouts.backoff, n.c.members.sessionMs) * million,
		}, broker.Deps{Channel: (*lifeChannel)(m), AppliedOffset: n.loader.LastAppliedOffset})
		if err != nil {
			return err
		}
		m.life = life
	}
	n.env.Post(laneMember, &memberImage{})
	return n.loader.Install(n.env.MonotonicNs(), (*memberPublisher)(m))
}

// announced are the feature ranges of a host's software.
func announced(h *hostSettings) (list []image.FeatureRange) {
	for _, name := range h.release.FeatureNames() {
		lowest, highest, _ := h.release.Range(name, h.unstable)
		list = append(list, image.FeatureRange{Name: name, Minimum: lowest, Maximum: highest})
	}
	return list
}

// incarnation is an id that no other process has: a random one in Kafka. It is made of who starts and when, since a drawn one that is
// taken back to its benign value would be that of another process.
func (n *node) incarnation() (id record.UUID) {
	binary.BigEndian.PutUint32(id[:4], uint32(n.h.nodeID)+1)
	binary.BigEndian.PutUint32(id[4:8], uint32(decide.HashString(n.h.id)))
	binary.BigEndian.PutUint64(id[8:], uint64(n.env.WallMs()*million+n.env.MonotonicNs()))
	return id
}

// lifeChannel is broker.Channel.
type lifeChannel member

func (c *lifeChannel) Register(r *controller.BrokerRegistration) {
	c.channel.ask(c.n.env.MonotonicNs(), &memberRequest{from: r.BrokerID, broker: r})
}

func (c *lifeChannel) Heartbeat(h *controller.BrokerHeartbeat) {
	c.channel.ask(c.n.env.MonotonicNs(), &memberRequest{from: h.BrokerID, heartbeat: h})
}

// directoryFailed is told on the loader's lane that a directory can't be written.
func (m *member) directoryFailed(index int32) {
	if int(index) < len(m.dirs) && m.dirs[index] != (record.UUID{}) {
		m.n.env.Post(laneMember, memberDirectory{id: m.dirs[index]})
	}
}

// live are the log directories that are in use and have not failed.
func (m *member) live() (list []string) {
	for _, path := range m.paths {
		if path != "" {
			list = append(list, path)
		}
	}
	return list
}

func (m *member) appendState(buf []byte, protocol bool) []byte {
	if m.life != nil {
		return m.life.AppendState(buf, protocol)
	}
	return m.manager.AppendState(buf, protocol)
}

// answered tells the owner of the request what came of it; nil: nothing.
func (m *member) answered(a *memberAnswer) error {
	now := m.n.env.MonotonicNs()
	if m.manager != nil {
		m.manager.Answered(now, a != nil && a.code == controller.None)
		return nil
	}
	if a == nil {
		return m.life.Answered(now, &broker.Answer{Lost: true})
	}
	if err := m.life.Answered(now, &broker.Answer{Code: a.code, Reply: a.reply}); err != nil {
		return err
	}
	return m.refresh(now)
}

// inputMember is the lane of the life cycle, or of the registration manager.
func (n *node) inputMember(env *sim.Env, in *sim.Input) (err error) {
	m, now := n.member, env.MonotonicNs()
	switch in.Kind {
	case sim.InConnected:
		m.channel.opened(in.Conn)
	case sim.InDisconnected:
		m.channel.lost(now, in.Conn)
	case sim.InMessage:
		switch a := in.Msg.(type) {
		case *memberAnswer:
			err = m.channel.heard(now, in.Conn, a)
		case *memberVersions:
			err = m.channel.greeted(in.Conn, a)
		}
	default:
		err = m.post(now, in.Msg)
	}
	if err != nil {
		return err
	}
	return m.turn(env, now)
}

func (m *member) post(now int64, post sim.Message) error {
	switch p := post.(type) {
	case *memberImage:
		switch {
		case p.img == nil && m.life != nil:
			return m.life.Start(now)
		case p.img == nil:
		case m.manager != nil:
			m.manager.Published(now, p.img)
		default:
			m.img = p.img
			if err := m.refresh(now); err != nil {
				return err
			}
			return m.life.FirstPublish(now)
		}
	case *clusterIDPost:
		if m.life != nil {
			return m.life.SetClusterID(now, p.id)
		}
		m.manager.SetClusterID(now)
	case memberDirectory:
		if i := slices.Index(m.dirs, p.id); i >= 0 {
			m.paths[i] = ""
		}
		return m.life.DirectoryFailed(now, p.id)
	case memberStop:
		return m.life.BeginControlledShutdown(now)
	}
	return nil
}

// refresh registers once more where the registration of this process is from below the level of log directories and has none (KIP-858). The
// image may be there before the answer to that registration.
func (m *member) refresh(now int64) error {
	if m.img == nil || !features.SupportsDirectoryAssignment(m.img.MetadataVersion()) {
		return nil
	}
	b := m.img.Broker(m.n.h.nodeID)
	if b == nil || b.Epoch != m.life.Epoch() || len(b.LogDirs) > 0 || m.refreshed == b.Epoch {
		return nil
	}
	m.refreshed = b.Epoch
	return m.life.Reregister(now)
}

// turn lets everything do what is due, ends the process when it may go, and sets the lane's deadline.
func (m *member) turn(env *sim.Env, now int64) error {
	next, err := m.channel.poll(now)
	if err != nil {
		return err
	}
	if m.manager != nil {
		m.manager.Poll(now)
		next = sooner(next, m.manager.DeadlineNs())
	} else {
		if err := m.life.Poll(now); err != nil {
			return err
		}
		next = sooner(next, m.life.DeadlineNs())
		if m.life.State() == broker.ShuttingDown && !m.n.stopping {
			if m.life.Epoch() >= 0 {
				broker.LeaveCleanShutdown(env.Files(), m.live(), m.life.Epoch())
			}
			m.n.shutDown(env)
		}
	}
	if again, err := m.channel.poll(now); err != nil {
		return err
	} else if again >= 0 {
		next = sooner(next, again)
	}
	env.WakeAt(next)
	return nil
}

func sooner(a, b int64) int64 {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// memberPublisher posts images to the member's lane: the first one, and those that change what it looks at.
type memberPublisher member

// Name implements loader.Publisher.
func (p *memberPublisher) Name() string { return "member" }

// OnMetadataUpdate implements loader.Publisher.
func (p *memberPublisher) OnMetadataUpdate(d *image.Delta, img *image.Image, _ *loader.Manifest) error {
	changed := !p.told || p.level != img.MetadataVersion()
	if p.manager != nil {
		for range d.Controllers() {
			changed = true
			break
		}
	}
	if changed {
		p.told, p.level = true, img.MetadataVersion()
		p.n.env.Post(laneMember, &memberImage{img: img})
	}
	return nil
}

// OnControllerChange implements loader.Publisher.
func (p *memberPublisher) OnControllerChange(raft.LeaderAndEpoch) {}

// memberImage is an image on its way to the member's lane; without one it tells the member to start.
type memberImage struct{ img *image.Image }

func (p *memberImage) Kind() uint32 { return postMemberImage }
func (p *memberImage) Key() uint64 {
	if p.img == nil {
		return 0
	}
	return uint64(p.img.Provenance().Offset + 2)
}
func (p *memberImage) AppendTo(buf []byte) []byte {
	buf = binary.BigEndian.AppendUint64(append(buf, 'I'), p.Key())
	if p.img != nil {
		buf = binary.BigEndian.AppendUint64(buf, p.img.Digest())
	}
	return buf
}
func (p *memberImage) String() string {
	if p.img == nil {
		return "member starts"
	}
	return fmt.Sprintf("image at offset %d for the member", p.img.Provenance().Offset)
}

// memberStop asks a broker to end.
type memberStop struct{}

func (memberStop) Kind() uint32               { return postMemberStop }
func (memberStop) Key() uint64                { return 0 }
func (memberStop) AppendTo(buf []byte) []byte { return append(buf, 'E') }
func (memberStop) String() string             { return "begin the controlled shutdown" }

// memberDirectory tells a broker of a log directory that is offline.
type memberDirectory struct{ id record.UUID }

func (p memberDirectory) Kind() uint32               { return postMemberDirectory }
func (p memberDirectory) Key() uint64                { return binary.BigEndian.Uint64(p.id[:8]) }
func (p memberDirectory) AppendTo(buf []byte) []byte { return append(append(buf, 'D'), p.id[:]...) }
func (p memberDirectory) String() string             { return "log directory " + p.id.String() + " is offline" }
