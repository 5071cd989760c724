package scenarios

import (
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// memberChannel carries one request at a time to the active controller, as Kafka's NodeToControllerChannelManager does: it asks raft
// who leads, keeps the connection to that node as long as it does, and asks again elsewhere after NOT_CONTROLLER, a broken
// connection or silence, until the request's time is over.
type memberChannel struct {
	n        *node
	answered func(a *memberAnswer) error // nil: there was none in time

	request   *memberRequest // nil: none is out
	giveUpNs  int64
	nextTryNs int64 // -1: it is under way
	patience  int64 // on the connection: when it is given up

	conn   sim.Conn               // 0: none
	to     int32                  // node id at its other end
	speaks []raft.APIVersionRange // of the other end, nil until it has answered the greeting
	sent   bool
}

// ask begins with a request.
func (c *memberChannel) ask(nowNs int64, r *memberRequest) {
	c.request, c.giveUpNs, c.nextTryNs, c.sent = r, nowNs+c.n.c.members.patienceNs(), nowNs, false
}

// patienceNs is how long a request is tried, and how long an attempt waits for its answer: half a session (KAFKA-14392).
func (m *memberSettings) patienceNs() int64 { return max(1, m.sessionMs*million/2) }

// poll does what is due and returns when it wants to be called again, -1: not at all.
func (c *memberChannel) poll(nowNs int64) (int64, error) {
	if c.request == nil {
		return -1, nil
	}
	if nowNs >= c.giveUpNs {
		c.hangUp()
		c.request = nil
		return -1, c.answered(nil)
	}
	if c.nextTryNs < 0 && nowNs >= c.patience { // no connection, or no answer
		c.hangUp()
		c.again(nowNs)
	}
	if c.nextTryNs >= 0 && nowNs >= c.nextTryNs {
		if err := c.try(nowNs); err != nil || c.request == nil {
			return -1, err
		}
	}
	if c.nextTryNs >= 0 {
		return min(c.nextTryNs, c.giveUpNs), nil
	}
	return min(c.patience, c.giveUpNs), nil
}

// again sets the time of the next attempt.
func (c *memberChannel) again(nowNs int64) {
	c.sent = false
	c.nextTryNs = nowNs + max(million, c.n.c.timeouts.backoff*million)
}

// try sends the request to who leads now, over the connection that there is if it leads there.
func (c *memberChannel) try(nowNs int64) error {
	leader := c.n.replica.LeaderAndEpoch().LeaderID
	if leader < 0 {
		c.again(nowNs)
		return nil
	}
	if c.conn != 0 && c.to != leader {
		c.hangUp()
	}
	if c.conn == 0 {
		host := c.n.c.memberHost(c.n.h, leader)
		if host == "" {
			c.again(nowNs)
			return nil
		}
		c.conn, c.to, c.speaks = c.n.env.Dial(host, memberPort), leader, nil
	}
	c.nextTryNs, c.patience = -1, nowNs+c.n.c.members.patienceNs()
	if c.speaks != nil {
		return c.send()
	}
	return nil
}

// send puts the request on the connection, as an attempt of its own, in the version that both ends know. Where there is none the
// answer is that, as Kafka's client gives it.
func (c *memberChannel) send() error {
	version, ok := spokenVersion(c.request.rpc(), c.n.h.asks(), c.speaks)
	if !ok {
		c.request = nil
		return c.answered(&memberAnswer{to: c.n.h.nodeID, code: controller.UnsupportedVersion})
	}
	attempt := *c.request
	attempt.number = c.n.env.MonotonicNs()
	c.request, c.sent = &attempt, true
	c.n.env.Send(c.conn, attempt.in(version))
	return nil
}

// hangUp ends the connection.
func (c *memberChannel) hangUp() {
	if c.conn != 0 {
		c.n.env.CloseConn(c.conn)
	}
	c.conn, c.speaks = 0, nil
}

// opened, greeted, lost and heard take what the network says.
func (c *memberChannel) opened(conn sim.Conn) {
	if conn == c.conn {
		c.n.env.Send(conn, &memberGreeting{from: c.n.h.nodeID})
	}
}

func (c *memberChannel) greeted(conn sim.Conn, v *memberVersions) error {
	if conn != c.conn {
		return nil
	}
	if c.speaks = v.ranges; c.request != nil && c.nextTryNs < 0 && !c.sent {
		return c.send()
	}
	return nil
}

func (c *memberChannel) lost(nowNs int64, conn sim.Conn) {
	if conn != c.conn {
		return
	}
	c.conn, c.speaks = 0, nil
	if c.request != nil && c.nextTryNs < 0 {
		c.again(nowNs)
	}
}

func (c *memberChannel) heard(nowNs int64, conn sim.Conn, a *memberAnswer) error {
	if conn != c.conn || c.request == nil || a.number != c.request.number {
		return nil
	}
	if a.code == controller.NotController {
		c.hangUp()
		c.again(nowNs)
		return nil
	}
	c.request = nil
	return c.answered(a)
}

// memberHost is the host of a controller by its node id, as a host finds it; "": it is none of its cluster's.
func (c *cluster) memberHost(from *hostSettings, id int32) string {
	for i := range c.hosts {
		if h := &c.hosts[i]; h.nodeID == id && h.cluster == from.cluster && (h.kind == kindController || h.kind == kindObserver) {
			return h.id
		}
	}
	return ""
}
