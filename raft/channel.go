package raft

import "github.com/kraftsim/kraftsim/raft/voters"

// peerState is what a replica expects of a peer (kraft-protocol 2.15).
type peerState uint8

const (
	peerReady      peerState = iota // nothing is expected, a request may be sent
	peerAwaiting                    // one answer is expected, until peer.deadlineMs
	peerBackingOff                  // nothing may be sent before peer.deadlineMs
)

// linkState is the state of the connection beneath.
type linkState uint8

const (
	linkDown linkState = iota
	linkConnecting
	linkUp
)

// peer is one destination: a voter by its id, or a bootstrap server by an id of -2 and below. Two layers meet in it.
// Above, the expectation: at most one request, forgotten at every change of role. Below, the connection, which
// outlives changes of role and is dialled again with a growing pause after it was lost.
type peer struct {
	id       int32
	endpoint voters.Endpoint
	dialled  voters.Endpoint // where the connection leads, or led last

	state       peerState
	correlation int32 // of the answer expected while peerAwaiting
	deadlineMs  int64
	quiet       bool // awaiting an answer whose failure for want of a connection means no pause

	link     linkState
	conn     int64
	silentMs int64 // link not down: closed and dialled again when nothing comes back until then; never: nothing is owed
	redialMs int64 // not before
	failures int32 // lost connections since the last one that opened
	pending  Message
}

// channel is all peers, ascending by id, which keeps walks over them in one order.
type channel struct {
	peers     []*peer
	bootstrap []*peer
	last      int32 // correlation id given out last
}

// peerTo returns the peer with that id, made on first use, and notes where it is reached now. An open connection is
// kept when the endpoint changes: the next dial goes to the new one.
func (c *channel) peerTo(id int32, endpoint voters.Endpoint) *peer {
	at := 0
	for at < len(c.peers) && c.peers[at].id < id {
		at++
	}
	if at < len(c.peers) && c.peers[at].id == id {
		c.peers[at].endpoint = endpoint
		return c.peers[at]
	}
	p := &peer{id: id, endpoint: endpoint}
	c.peers = append(c.peers, nil)
	copy(c.peers[at+1:], c.peers[at:])
	c.peers[at] = p
	return p
}

// byConn returns the peer whose connection that is, or nil: not (or no longer) one that this replica dialled.
func (c *channel) byConn(conn int64) *peer {
	for _, p := range c.peers {
		if p.link != linkDown && p.conn == conn {
			return p
		}
	}
	return nil
}

// openBootstrap makes the peers that lead to an unknown leader: the configured servers with ids from -2 down, or, when
// there are none, the static voters with their own ids. This replica's own entry is left out: asking oneself for the
// leader tells nothing.
func (r *Replica) openBootstrap() error {
	for i, server := range r.cfg.BootstrapServers {
		endpoint := voters.Endpoint{Name: r.cfg.ListenerName, Host: server.Host, Port: server.Port}
		r.channel.bootstrap = append(r.channel.bootstrap, r.channel.peerTo(-2-int32(i), endpoint))
	}
	if len(r.cfg.BootstrapServers) > 0 {
		return nil
	}
	for i := int32(0); i < r.cfg.StaticVoters.Len(); i++ {
		v := r.cfg.StaticVoters.At(i)
		if v.ID == r.cfg.NodeID {
			continue
		}
		p, err := r.voterPeer(v)
		if err != nil {
			return err
		}
		r.channel.bootstrap = append(r.channel.bootstrap, p)
	}
	return nil
}

// resetPeers forgets every expectation and backoff, as each change of role does (2.15). Answers that are still on
// their way are dropped when they come: their correlation ids are no longer expected (KB-43).
func (r *Replica) resetPeers() {
	for _, p := range r.channel.peers {
		p.state = peerReady
		p.pending = nil
	}
}

// isReady reports whether a request may be sent to p now. A peer that did not answer in time is ready again.
func (r *Replica) isReady(p *peer) bool {
	if p.state != peerReady && r.nowMs >= p.deadlineMs {
		r.expire(p)
	}
	return p.state == peerReady
}

// timedOut reports whether p owes an answer for longer than the request timeout.
func (r *Replica) timedOut(p *peer) bool { return p.state == peerAwaiting && r.nowMs >= p.deadlineMs }

// backingOff reports whether p is in its pause after an error.
func (r *Replica) backingOff(p *peer) bool {
	return p.state == peerBackingOff && r.nowMs < p.deadlineMs
}

// expire ends an overdue expectation or a pause. The connection on which an answer is overdue is closed, as Kafka's
// network client does: a half-open one would swallow the next request too.
func (r *Replica) expire(p *peer) {
	if p.state == peerAwaiting {
		r.emit(RequestTimeout, 0, 0, &ReplicaKey{ID: p.id}, false)
		if p.link != linkDown {
			r.deps.Transport.CloseConn(p.conn)
			r.linkLost(p)
		}
	}
	p.state = peerReady
	p.pending = nil
}

// anyInFlight reports whether some peer owes an answer and is still within its time. It looks at every peer, so an overdue
// answer is forgotten from here on: applied after the fetch that is about to start elsewhere, it would be an old answer to
// a newer log (KB-43).
func (r *Replica) anyInFlight() bool {
	any := false
	for _, p := range r.channel.peers {
		if !r.isReady(p) && p.state == peerAwaiting {
			any = true
		}
	}
	return any
}

// inFlightDeadlineMs is the earliest time at which an outstanding answer becomes overdue.
func (r *Replica) inFlightDeadlineMs() int64 {
	deadlineMs := never
	for _, p := range r.channel.peers {
		if p.state == peerAwaiting && r.nowMs < p.deadlineMs {
			deadlineMs = min(deadlineMs, p.deadlineMs)
		}
	}
	return deadlineMs
}

// send gives the request a correlation id and sends it, dialling first when there is no connection. p must be ready.
// While a lost connection waits to be dialled again the request fails at once, which is the BROKER_NOT_AVAILABLE of
// Kafka's network channel: back off.
func (r *Replica) send(p *peer, m Message, h *Header) {
	r.channel.last++
	h.Correlation = r.channel.last
	p.state = peerAwaiting
	p.correlation = h.Correlation
	p.deadlineMs = r.nowMs + max(r.cfg.RequestTimeoutMs, 1)
	_, p.quiet = m.(*UpdateRaftVoterRequest)
	r.closeSilent(p)
	switch p.link {
	case linkUp:
		p.silentMs = min(p.silentMs, p.deadlineMs)
		r.deps.Transport.Send(p.conn, m)
	case linkConnecting:
		p.pending = m
	case linkDown:
		if r.nowMs < p.redialMs {
			r.unavailable(p)
			return
		}
		p.link = linkConnecting
		p.dialled = p.endpoint
		p.silentMs = p.deadlineMs
		p.pending = m
		p.conn = r.deps.Transport.Dial(p.endpoint.Host, p.endpoint.Port)
	}
}

// closeSilent closes a connection that does not open, or on which nothing has come back since a request, for as long as the
// request timeout. Expectations are forgotten at every change of role, so they alone would let a half-open connection live
// for ever where roles change faster than requests time out; Kafka's network client times out below them too.
func (r *Replica) closeSilent(p *peer) {
	if p.link != linkDown && r.nowMs >= p.silentMs {
		r.deps.Transport.CloseConn(p.conn)
		r.linkLost(p)
	}
}

// heard notes that the peer's connection works.
func (r *Replica) heard(conn int64) {
	if p := r.channel.byConn(conn); p != nil {
		p.silentMs = never
	}
}

// backOff starts p's pause after an error.
func (r *Replica) backOff(p *peer) {
	p.state = peerBackingOff
	p.deadlineMs = r.nowMs + max(r.cfg.RetryBackoffMs, 1)
	p.pending = nil
}

// answered settles the expectation that the answer with that correlation id meets: ready after a success, a pause
// otherwise. If a change of role in between forgot the expectation, there is nothing to settle.
func (r *Replica) answered(p *peer, correlation int32, success bool) {
	if p.state != peerAwaiting || p.correlation != correlation {
		return
	}
	if success {
		p.state = peerReady
		return
	}
	r.backOff(p)
}

// linkLost notes that p's connection is gone and draws when it may be dialled again: the pause doubles from
// ReconnectBackoffMs to ReconnectBackoffMaxMs, plus or minus a fifth.
func (r *Replica) linkLost(p *peer) {
	p.link = linkDown
	p.pending = nil
	pauseMs := r.cfg.ReconnectBackoffMs
	for i := int32(0); i < p.failures && pauseMs < r.cfg.ReconnectBackoffMaxMs; i++ {
		pauseMs *= 2
	}
	pauseMs = min(pauseMs, r.cfg.ReconnectBackoffMaxMs)
	p.failures++
	if fifth := pauseMs / 5; fifth > 0 {
		key := uint64(uint32(p.id))<<32 | uint64(uint32(p.failures))
		pauseMs += r.deps.Chooser.Choose(SiteReconnectBackoff, key, 2*fifth+1) - fifth
	}
	p.redialMs = r.nowMs + pauseMs
}

// connected notes that a dial succeeded and sends what waited for it.
func (r *Replica) connected(conn int64) {
	p := r.channel.byConn(conn)
	if p == nil || p.link != linkConnecting {
		return
	}
	p.link = linkUp
	p.silentMs = never
	p.failures = 0
	if m := p.pending; m != nil {
		p.pending = nil
		if p.state == peerAwaiting && r.nowMs >= p.deadlineMs {
			return // the request timed out while its connection opened: Kafka's network channel fails it unsent
		}
		p.silentMs = r.nowMs + max(r.cfg.RequestTimeoutMs, 1)
		r.deps.Transport.Send(conn, m)
	}
}

// disconnected notes that a dial failed or a connection broke. What was expected of the peer will not come.
func (r *Replica) disconnected(conn int64) {
	p := r.channel.byConn(conn)
	if p == nil {
		return
	}
	r.linkLost(p)
	if p.state == peerAwaiting {
		r.unavailable(p)
	}
}

// unavailable ends the expectation of a peer that has no connection. Kafka's network channel makes up an answer for it,
// BROKER_NOT_AVAILABLE, which means a pause; the one that it makes up for UpdateRaftVoter names no leader and epoch -1, is
// ignored as one from the past, and means none (2.4).
func (r *Replica) unavailable(p *peer) {
	r.emit(PeerUnavailable, 0, 0, &ReplicaKey{ID: p.id}, false)
	if p.quiet {
		p.state = peerReady
		p.pending = nil
		return
	}
	r.backOff(p)
	r.probeFailed(p.correlation)
}

// moveLink drops a connection that leads elsewhere than where p is reached now, so that what is sent next goes to the new
// endpoint and proves that it works. The pause before dialling belongs to the old endpoint.
func (r *Replica) moveLink(p *peer) {
	if p.dialled == p.endpoint {
		return
	}
	if p.link != linkDown {
		r.deps.Transport.CloseConn(p.conn)
		p.link, p.pending = linkDown, nil
	}
	p.redialMs = r.nowMs
}

// readyBootstrap returns a bootstrap server that may be asked, or nil and the time at which to look again. The search
// begins at a random place and finds nothing while any request is in flight (1.9).
func (r *Replica) readyBootstrap() (*peer, int64) {
	if r.anyInFlight() {
		return nil, r.inFlightDeadlineMs()
	}
	n := int64(len(r.channel.bootstrap))
	if n == 0 {
		return nil, never
	}
	first := int64(0)
	if n > 1 {
		first = r.deps.Chooser.Choose(SiteBootstrapServer, epochKey(r.base().epoch, r.log.EndOffset()), n)
	}
	againMs := never
	for i := int64(0); i < n; i++ {
		p := r.channel.bootstrap[(first+i)%n]
		if r.isReady(p) {
			return p, 0
		}
		againMs = min(againMs, p.deadlineMs)
	}
	return nil, againMs
}
