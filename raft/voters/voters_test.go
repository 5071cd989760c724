package voters

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"

	"flag"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/raft/record"
)

// TestMain pins the seed of the property tests, so that a run can be repeated.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = flag.Set("rapid.seed", "20260801")
	}
	os.Exit(m.Run())
}

// dir makes a directory id; 0 is none.
func dir(n byte) (u record.UUID) { u[15] = n; return u }

func voter(id int32, directory byte) Voter {
	return Voter{
		ReplicaKey:      ReplicaKey{ID: id, DirectoryID: dir(directory)},
		Endpoints:       []Endpoint{{Name: "CONTROLLER", Host: "host", Port: uint16(9000 + id)}},
		MaxKRaftVersion: 1,
	}
}

func mustSet(t require.TestingT, entries ...Voter) *Set {
	s, err := New(entries...)
	require.NoError(t, err)
	return s
}

// TestVoterTestExhaustively walks every entry and replica over two ids and three directory ids.
func TestVoterTestExhaustively(t *testing.T) {
	for entryID := int32(0); entryID < 2; entryID++ {
		for entryDir := byte(0); entryDir < 3; entryDir++ {
			s := mustSet(t, voter(entryID, entryDir), voter(7, 9))
			for id := int32(0); id < 2; id++ {
				for d := byte(0); d < 3; d++ {
					want := id == entryID && (entryDir == 0 || entryDir == d)
					require.Equal(t, want, s.Contains(ReplicaKey{ID: id, DirectoryID: dir(d)}))
					only := mustSet(t, voter(entryID, entryDir))
					require.Equal(t, want, only.IsOnly(ReplicaKey{ID: id, DirectoryID: dir(d)}))
					require.False(t, s.IsOnly(ReplicaKey{ID: id, DirectoryID: dir(d)}))
				}
			}
		}
	}
}

func TestNewSortsAndRefuses(t *testing.T) {
	s := mustSet(t, voter(3, 0), voter(1, 0), voter(2, 0))
	require.Equal(t, []int32{1, 2, 3}, []int32{s.At(0).ID, s.At(1).ID, s.At(2).ID})
	_, err := New(voter(1, 0), voter(1, 5))
	require.ErrorIs(t, err, ErrDuplicateVoter)
	_, err = New(voter(-1, 0))
	require.ErrorIs(t, err, ErrNegativeID)
	var none *Set
	require.Zero(t, none.Len())
	require.Nil(t, none.Find(1))
	require.True(t, none.Equal(mustSet(t)))
	grown, ok := none.Add(voter(1, 1))
	require.True(t, ok)
	require.EqualValues(t, 1, grown.Len())
}

func TestOperations(t *testing.T) {
	s := mustSet(t, voter(1, 1), voter(2, 2))
	_, ok := s.Add(voter(1, 9))
	require.False(t, ok, "an id is a voter once, whatever its directory")
	_, ok = s.Remove(ReplicaKey{ID: 1, DirectoryID: dir(9)})
	require.False(t, ok, "only the exact key is removed")
	one, ok := s.Remove(ReplicaKey{ID: 1, DirectoryID: dir(1)})
	require.True(t, ok)
	_, ok = one.Remove(ReplicaKey{ID: 2, DirectoryID: dir(2)})
	require.False(t, ok, "the last voter stays")

	moved := voter(2, 2)
	moved.Endpoints = []Endpoint{{Name: "CONTROLLER", Host: "elsewhere", Port: 1}}
	require.True(t, s.NeedsUpdate(&moved))
	updated, ok := s.Update(moved)
	require.True(t, ok)
	require.False(t, updated.NeedsUpdate(&moved))
	require.Equal(t, "host", s.Find(2).Endpoints[0].Host, "the old set is what it was")
	for _, change := range []func(v *Voter){
		func(v *Voter) { v.MinKRaftVersion++ }, func(v *Voter) { v.MaxKRaftVersion++ },
		func(v *Voter) { v.Endpoints[0].Port++ }, func(v *Voter) { v.Endpoints[0].Name = "OTHER" },
		func(v *Voter) { v.Endpoints = append(v.Endpoints, Endpoint{Name: "OTHER"}) }, func(v *Voter) { v.Endpoints = nil },
	} {
		changed := voter(2, 2)
		require.False(t, s.NeedsUpdate(&changed))
		changed.Endpoints = slices.Clone(changed.Endpoints)
		change(&changed)
		require.True(t, s.NeedsUpdate(&changed), "%+v", changed)
	}
	_, ok = s.Update(voter(2, 7))
	require.False(t, ok, "another directory")
	_, ok = s.UpdateIgnoringDirectoryID(voter(2, 7))
	require.True(t, ok)
	_, ok = s.UpdateIgnoringDirectoryID(voter(5, 7))
	require.False(t, ok)
	endpoint, found := updated.Find(2).Endpoint("CONTROLLER")
	require.True(t, found)
	require.Equal(t, "elsewhere", endpoint.Host)
	_, found = updated.Find(2).Endpoint("OTHER")
	require.False(t, found)
	require.True(t, s.At(0).SupportsKRaftVersion(1))
	require.False(t, s.At(0).SupportsKRaftVersion(2))
}

// TestMajoritiesOverlapOnlyAfterSingleChanges enumerates all pairs of sets of up to four ids with two directories.
func TestMajoritiesOverlapExhaustively(t *testing.T) {
	var sets []*Set
	for code := 0; code < 81; code++ { // each of four ids: absent, directory 1, directory 2
		var entries []Voter
		for id, rest := int32(0), code; id < 4; id, rest = id+1, rest/3 {
			if rest%3 > 0 {
				entries = append(entries, voter(id, byte(rest%3)))
			}
		}
		sets = append(sets, mustSet(t, entries...))
	}
	for _, a := range sets {
		for _, b := range sets {
			gone, come := 0, 0
			for id := int32(0); id < 4; id++ {
				va, vb := a.Find(id), b.Find(id)
				same := va != nil && vb != nil && va.ReplicaKey == vb.ReplicaKey
				if va != nil && !same {
					gone++
				}
				if vb != nil && !same {
					come++
				}
			}
			require.Equal(t, gone <= 1 && come <= 1, a.MajoritiesOverlap(b))
		}
	}
}

func TestParseStatic(t *testing.T) {
	s, err := ParseStatic("2@b:9094, 1@[::1]:9093", "CONTROLLER")
	require.NoError(t, err)
	require.Equal(t, Voter{
		ReplicaKey: ReplicaKey{ID: 1}, Endpoints: []Endpoint{{Name: "CONTROLLER", Host: "::1", Port: 9093}},
	}, *s.At(0))
	require.EqualValues(t, 2, s.At(1).ID)
	empty, err := ParseStatic("", "CONTROLLER")
	require.NoError(t, err)
	require.Zero(t, empty.Len())
	for _, bad := range []string{"1", "x@a:1", "-1@a:1", "1@a", "1@:9", "1@a:70000", "1@a:1,1@b:1", "1@a:1,"} {
		_, err := ParseStatic(bad, "CONTROLLER")
		require.Truef(t, errors.Is(err, ErrStaticVoters), "%q: %v", bad, err)
	}
}

// drawSet draws a set of up to six voters.
func drawSet(t *rapid.T) *Set {
	s := mustSet(t)
	for _, id := range rapid.SliceOfNDistinct(rapid.Int32Range(0, 9), 0, 6, rapid.ID).Draw(t, "ids") {
		s, _ = s.Add(voter(id, rapid.ByteRange(0, 3).Draw(t, "dir")))
	}
	return s
}

func TestAddThenRemoveIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSet(t)
		v := voter(rapid.Int32Range(10, 20).Draw(t, "new"), rapid.ByteRange(0, 3).Draw(t, "newdir"))
		bigger, ok := s.Add(v)
		require.True(t, ok)
		require.True(t, s.MajoritiesOverlap(bigger))
		require.True(t, bigger.MajoritiesOverlap(s))
		back, ok := bigger.Remove(v.ReplicaKey)
		require.Equal(t, s.Len() > 0, ok)
		if ok {
			require.True(t, back.Equal(s))
			require.Equal(t, s.AppendTo(nil), back.AppendTo(nil))
			require.False(t, bytes.Equal(s.AppendTo(nil), bigger.AppendTo(nil)))
		}
	})
}

func TestCompareIsATotalOrder(t *testing.T) {
	key := rapid.Custom(func(t *rapid.T) ReplicaKey {
		return ReplicaKey{ID: rapid.Int32Range(-1, 2).Draw(t, "id"), DirectoryID: dir(rapid.ByteRange(0, 2).Draw(t, "d"))}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := key.Draw(t, "a"), key.Draw(t, "b"), key.Draw(t, "c")
		require.Equal(t, a == b, a.Compare(b) == 0)
		require.Equal(t, a.Compare(b) < 0, b.Compare(a) > 0)
		if a.Compare(b) <= 0 && b.Compare(c) <= 0 {
			require.LessOrEqual(t, a.Compare(c), int32(0))
		}
	})
	require.Equal(t, "1", ReplicaKey{ID: 1}.String())
	require.Equal(t, "1:AAAAAAAAAAAAAAAAAAAAAQ", ReplicaKey{ID: 1, DirectoryID: dir(1)}.String())
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSet(t)
		asRecord := s.Record()
		var decoded record.VotersRecord
		require.NoError(t, decoded.Decode(asRecord.AppendTo(nil)))
		back, err := FromRecord(&decoded)
		require.NoError(t, err)
		require.True(t, back.Equal(s))
	})
	_, err := FromRecord(&record.VotersRecord{Voters: []record.VoterEntry{{VoterID: 1}, {VoterID: 1}}})
	require.ErrorIs(t, err, ErrDuplicateVoter)
}

// TestKeysAreExact: what is removed has exactly the key that was named, what is updated has its own, and an entry that differs in anything
// is another one (kraft-protocol 5.2).
func TestKeysAreExact(t *testing.T) {
	s := mustSet(t, voter(1, 0), voter(2, 2))
	_, ok := s.Remove(ReplicaKey{ID: 1, DirectoryID: dir(5)})
	require.False(t, ok, "an entry without directory is no replica of that directory")
	_, ok = s.Remove(ReplicaKey{ID: 2})
	require.False(t, ok)
	_, ok = s.Add(voter(-1, 3))
	require.False(t, ok)

	moved := voter(2, 2)
	moved.Endpoints = []Endpoint{{Name: "CONTROLLER", Host: "elsewhere", Port: 1}}
	require.True(t, s.NeedsUpdate(&moved))
	moved.DirectoryID = dir(3)
	require.False(t, s.NeedsUpdate(&moved), "another disk is another replica")

	fewer := voter(2, 2)
	fewer.Endpoints = append([]Endpoint{{Name: "L1", Host: "h", Port: 1}}, fewer.Endpoints...)
	more := fewer
	fewer.Endpoints = fewer.Endpoints[:1]
	require.False(t, mustSet(t, fewer).Equal(mustSet(t, more)))
	require.True(t, mustSet(t, more).NeedsUpdate(&fewer))

	low, high := voter(2, 2), voter(2, 2)
	low.MinKRaftVersion, low.MaxKRaftVersion = 0, 1
	high.MinKRaftVersion, high.MaxKRaftVersion = 1, 1
	require.NotEqual(t, mustSet(t, low).AppendTo(nil), mustSet(t, high).AppendTo(nil))
	require.True(t, low.SupportsKRaftVersion(0))
	require.False(t, high.SupportsKRaftVersion(0))

	require.Negative(t, ReplicaKey{ID: 2, DirectoryID: dir(1)}.Compare(ReplicaKey{ID: 2, DirectoryID: dir(3)}))
	require.Positive(t, ReplicaKey{ID: 2, DirectoryID: dir(3)}.Compare(ReplicaKey{ID: 2}))
}
