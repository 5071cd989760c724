package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
)

func noOp() records.Record { return &records.NoOpRecord{} }

func TestLevelWithClusterID(t *testing.T) {
	for _, c := range []struct {
		name   string
		cfg    Config
		writes [][]records.Record // behind a bootstrap at 34
		broken bool
	}{
		{"the same level again, alone", Config{Variant: Draft}, [][]records.Record{{level(34)}}, true},
		{"with the id", Config{Variant: Draft}, [][]records.Record{{level(34), clusterID("x")}}, false},
		{"the id in another batch", Config{Variant: FinalApr}, [][]records.Record{{level(34)}, {clusterID("x")}}, true},
		{"in one transaction", Config{Variant: Draft}, [][]records.Record{{begin()}, {level(34)}, {clusterID("x")}, {noOp()}, {abort()}}, false},
		{"in one aborted transaction, alone", Config{Variant: Draft}, [][]records.Record{{begin()}, {level(34)}, {abort()}}, false},
		{"other records", Config{Variant: Draft}, [][]records.Record{{noOp()}, {clusterID("x")}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := threeUp(t, c.cfg)
			one := l.node(1)
			one.append(1, begin(), level(34), clusterID("x"), end())
			l.commit(one, 1, 2)
			l.clean()
			one.properties(testData, "x")
			for _, w := range c.writes {
				one.append(1, w...)
			}
			l.commit(one, 1, 2)
			l.evaluated("level-with-cluster-id")
			if c.broken {
				l.breaks("level-with-cluster-id/alone")
			} else {
				l.clean()
			}
		})
	}
}

func TestBootstrapKeepsID(t *testing.T) {
	for _, c := range []struct {
		stored, written string
		want            []string
	}{
		{"x", "x", nil}, {"x", "y", []string{"bootstrap-keeps-id/other-id"}}, {"", "y", nil},
	} {
		l := newLab(t, 3, Config{Variant: Draft})
		one := l.node(1)
		if c.stored != "" {
			one.crash(false)
			one.v.Load(testData+"/"+propertiesName, []byte(propertiesText(1, one.dir, c.stored)))
			one.boot()
		}
		one.lead(1, 2, 3)
		one.append(1, begin(), level(34), clusterID(c.written), end())
		require.Equal(t, c.want, l.found)
	}
}

func TestOwnIDInRequests(t *testing.T) {
	known := func(id string) raft.ClusterID { return raft.ClusterID{ID: id, Known: true} }
	for _, c := range []struct {
		name   string
		cfg    Config
		stored string
		sent   raft.ClusterID
		want   []string
	}{
		{"its own", Config{Variant: FinalMar}, "x", known("x"), nil},
		{"another", Config{Variant: FinalMar}, "x", known("y"), []string{"own-id-in-requests/other-id"}},
		{"null", Config{Variant: Draft}, "x", raft.ClusterID{}, []string{"own-id-in-requests/null"}},
		{"null while unknown", Config{Variant: Draft}, "", raft.ClusterID{}, nil},
		{"one that is not stored", Config{Variant: Draft}, "", known("y"), []string{"own-id-in-requests/not-stored"}},
		{"told first, not stable", Config{Variant: Draft, TellsFirst: true}, "", known("y"), []string{"own-id-in-requests/not-stored"}},
		{"told first, stable", Config{Variant: Draft, TellsFirst: true}, "", known("s"), nil},
		{"released", Config{}, "x", known("y"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := threeUp(t, c.cfg)
			l.core.stable.ids = append(l.core.stable.ids, l.core.ledger.text("s"))
			one := l.node(1)
			if c.stored != "" {
				one.crash(false)
				one.v.Load(testData+"/"+propertiesName, []byte(propertiesText(1, one.dir, c.stored)))
				one.boot()
			}
			l.core.ownIDInRequest(one.r, c.sent)
			require.Equal(t, c.want, l.found)
		})
	}
}

func TestPublishedID(t *testing.T) {
	for _, c := range []struct {
		stored string
		offset int64
		want   []string
	}{
		{"x", 100, nil}, {"", 100, nil}, {"y", 100, []string{"published-id/other-id"}}, {"y", -1, nil},
	} {
		l := threeUp(t, Config{Variant: Draft})
		l.node(1).append(1, begin(), level(34), clusterID("x"), end())
		l.commit(l.node(1), 1, 2)
		three := l.node(3)
		if c.stored != "" {
			three.crash(false)
			three.v.Load(testData+"/"+propertiesName, []byte(propertiesText(3, three.dir, c.stored)))
			three.boot()
		}
		l.core.publishedID(three.r, c.offset)
		require.Equal(t, c.want, l.found)
	}
}

func TestUnescapeOfProperties(t *testing.T) {
	for text, want := range map[string]string{
		`plain`: "plain", `a\=b\:c`: "a=b:c", `caf\u00e9`: "café", `\ud83d\ude00!`: "😀!", `tab\tend`: "tab\tend", `back\\slash`: `back\slash`,
		`\u12`: "?", `trailing\`: `trailing\`,
	} {
		require.Equal(t, want, unescape(text), text)
	}
}
