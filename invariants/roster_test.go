package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// TestVotersRegistered: in the calm each entry says what its node is configured with, and who joins by itself has joined.
func TestVotersRegistered(t *testing.T) {
	at := func(port uint16) []voters.Endpoint {
		return []voters.Endpoint{{Name: "CONTROLLER", Host: "n2", Port: port}}
	}
	for _, row := range []struct {
		name string
		host string // to which own belongs; the others have no such configuration
		own  Registration
		down bool
		want string
	}{
		{name: "as it is", host: "n2", own: Registration{Listeners: at(1), MaxKRaftVersion: 1, Corrects: true}},
		{name: "another port", host: "n2", own: Registration{Listeners: at(2), MaxKRaftVersion: 1, Corrects: true}, want: "n2"},
		{name: "another port, and old software", host: "n2", own: Registration{Listeners: at(2), MaxKRaftVersion: 1}},
		{name: "another port, and down", host: "n2", own: Registration{Listeners: at(2), MaxKRaftVersion: 1, Corrects: true}, down: true},
		{name: "other versions", host: "n2", own: Registration{Listeners: at(1), Corrects: true}, want: "n2"},
		{name: "one listener more", host: "n2", own: Registration{Listeners: append(at(1), at(3)...), MaxKRaftVersion: 1, Corrects: true}, want: "n2"},
		{name: "joins", host: "n3", own: Registration{Joins: true}, want: "n3"},
		{name: "need not join", host: "n3", own: Registration{}},
		{name: "has joined", host: "n2", own: Registration{Joins: true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := dynamicUp(t, 2, Config{Registered: func(host string, into *Registration) bool {
				*into = row.own
				return host == row.host
			}})
			l.add(3)
			l.alone = true
			one := l.node(1)
			m := votersRecord(1, 2)
			m.Voters[1].Endpoints = []record.VoterEndpoint{{Name: "CONTROLLER", Host: "n2", Port: 1}}
			m.Voters[1].MaxSupportedVersion = 1
			one.writeVoters(1, m)
			for _, x := range l.nodes {
				x.r.server, x.r.up = true, !(row.down && x.r.id == row.host)
			}
			r, what := l.core.unregistered()
			if row.want == "" {
				require.Nil(t, r, what)
				require.Equal(t, "voters-registered: nothing", l.core.waitsForRegistration())
			} else {
				require.Equal(t, row.want, r.id)
				require.Contains(t, l.core.waitsForRegistration(), row.want)
			}
			l.evaluated("voters-registered")
		})
	}
}
