package scenarios

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// usedTree is what a run leaves of a formatted node.
func usedTree(t *testing.T, release string, edit func(o *format.Options)) fstest.MapFS {
	t.Helper()
	r, v := bootTree(t, formatted(t, release, 1, edit), FromOptions{})
	requireUp(t, r, v)
	return exported(r)
}

// TestNotesOfTwoVoterLists: the list that quorum-state remembers against the one of the run.
func TestNotesOfTwoVoterLists(t *testing.T) {
	used := usedTree(t, "upstream-4.5", nil)
	name := "dir0/" + partition + "quorum-state"
	state := func(list string) []byte {
		return []byte(`{"clusterId":"","leaderId":-1,"leaderEpoch":5,"votedId":-1,"appliedOffset":0,"currentVoters":` + list + `,"data_version":0}`)
	}
	three := []byte(`[{"voterId":9},{"voterId":7},{"voterId":8}]`)
	for _, c := range []struct {
		name    string
		tree    fstest.MapFS
		voters  string
		warning string // "" for none
	}{
		{name: "as the run left it", tree: used},
		{name: "no voter", tree: with(used, map[string][]byte{name: state("[]")})},
		{name: "no file", tree: with(used, map[string][]byte{name: nil})},
		{name: "voters not given", tree: with(used, map[string][]byte{name: state(string(three))}), warning: "voters 7,8,9, this run has 7: "},
		{name: "the same", tree: with(used, map[string][]byte{name: state(string(three))}), voters: "7@a:9093,8@b:9093,9@c:9093"},
		{name: "others", tree: with(used, map[string][]byte{name: state(string(three))}), voters: "7@a:9093,8@b:9093,10@c:9093",
			warning: "voters 7,8,9, this run has 7,8,10: "},
		{name: "a voter set in the log", tree: usedTree(t, "upstream-4.5", standalone)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, notes, err := ExaminedPlanFrom(c.tree, 1, FromOptions{Where: "D", Voters: c.voters})
			require.NoError(t, err)
			plain, err := PlanFrom(c.tree, 1, FromOptions{Where: "D", Voters: c.voters})
			require.NoError(t, err)
			require.Equal(t, plain, p)
			require.Nil(t, notes.Cut)
			if c.warning == "" {
				require.Equal(t, []string{}, notes.Warnings)
				return
			}
			require.Len(t, notes.Warnings, 1)
			require.Contains(t, notes.Warnings[0], "D/"+name+": currentVoters: ")
			require.Contains(t, notes.Warnings[0], c.warning)
		})
	}
}

// batchStarts are the positions of batches, and the offset behind each.
func batchStarts(t *testing.T, log []byte) (at []int64, next []int64) {
	t.Helper()
	for rest := log; len(rest) > 0; {
		at = append(at, int64(len(log)-len(rest)))
		batch, after, err := record.NextFileBatch(rest)
		require.NoError(t, err)
		next, rest = append(next, batch.NextOffset()), after
	}
	return at, next
}

// TestNotesOfTheCut: every batch of a log is damaged in turn; the note says what the start will cut, and the node does.
func TestNotesOfTheCut(t *testing.T) {
	used := usedTree(t, "upstream-4.5", nil)
	name := "dir0/" + partition + firstSegment
	log := used[name].Data
	at, next := batchStarts(t, log)
	require.Greater(t, len(at), 2)
	for i := range at {
		damaged := append([]byte{}, log...)
		damaged[at[i]+30] ^= 1 // under the checksum, behind what headers need
		tree := with(used, map[string][]byte{name: damaged})
		p, notes, err := ExaminedPlanFrom(tree, 1, FromOptions{Where: "D"})
		require.NoError(t, err)
		end := int64(0)
		if i > 0 {
			end = next[i-1]
		}
		require.NotNil(t, notes.Cut)
		reason := notes.Cut.Reason
		require.NotEmpty(t, reason)
		require.Equal(t, LogCut{File: "D/" + name, Position: at[i], Reason: reason, Bytes: int64(len(log)) - at[i], EndOffset: end,
			RecordsLost: next[len(next)-1] - end}, *notes.Cut)
		require.Len(t, notes.Warnings, 1)
		require.Contains(t, notes.Warnings[0], fmt.Sprintf("D/%s: position %d: %s", name, at[i], reason))
		if i == len(at)-1 {
			r, v := bootPlan(t, p)
			requireUp(t, r, v)
			require.Equal(t, log[:at[i]], exported(r)[name].Data[:at[i]])
		}
	}
	torn := with(used, map[string][]byte{name: log[:len(log)-5]})
	_, notes, err := ExaminedPlanFrom(torn, 1, FromOptions{})
	require.NoError(t, err)
	require.EqualValues(t, at[len(at)-1], notes.Cut.Position)
}

// TestRecordsThatNobodyReplays are bad input, with file, offset and record; what one release refuses is left to its node.
func TestRecordsThatNobodyReplays(t *testing.T) {
	used := usedTree(t, "upstream-4.5", nil)
	name := "dir0/" + partition + firstSegment
	log := used[name].Data
	_, next := batchStarts(t, log)
	end := next[len(next)-1]
	level := func(name string, level int16) records.Record {
		return &records.FeatureLevelRecord{Name: name, FeatureLevel: level}
	}
	for _, c := range []struct {
		name    string
		records []records.Record
		raw     []byte
		refused string
	}{
		{name: "level of none", records: []records.Record{level("rack", 9)}, refused: "0: FeatureLevelRecord: no release can replay it: rack 9 is no level of any of them"},
		{name: "level far off", records: []records.Record{level("metadata.version", 900)}, refused: "0: FeatureLevelRecord: "},
		{name: "level of another release", records: []records.Record{level("metadata.version", 34)}},
		{name: "transaction", records: []records.Record{&records.BeginTransactionRecord{}, level("group.version", 0), &records.EndTransactionRecord{}}},
		{name: "aborted", records: []records.Record{&records.BeginTransactionRecord{}, &records.AbortTransactionRecord{}}},
		{name: "transaction left open", records: []records.Record{&records.BeginTransactionRecord{}}},
		{name: "end of none", records: []records.Record{&records.EndTransactionRecord{}}, refused: "0: EndTransactionRecord: "},
		{name: "begun twice", records: []records.Record{&records.BeginTransactionRecord{}, &records.BeginTransactionRecord{}}, refused: "1: BeginTransactionRecord: "},
		{name: "removal of nothing", records: []records.Record{&records.RemoveTopicRecord{TopicId: record.UUID{1}}}, refused: "0: RemoveTopicRecord: "},
		{name: "another cluster", records: []records.Record{&records.ClusterIdRecord{ClusterId: "A"}, &records.ClusterIdRecord{ClusterId: "B"}},
			refused: `1: ClusterIdRecord: no release can replay it: cluster id "B" after "A"`},
		{name: "no record", raw: []byte{1, 120, 0}, refused: "0: metadata record: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b record.Builder
			b.Reset(nil, record.BatchSpec{BaseOffset: end, LeaderEpoch: 1})
			for _, r := range c.records {
				b.Add(nil, records.Append(nil, r, 0))
			}
			if c.raw != nil {
				b.Add(nil, c.raw)
			}
			tree := with(used, map[string][]byte{name: append(append([]byte{}, log...), b.Finish()...)})
			_, _, err := ExaminedPlanFrom(tree, 1, FromOptions{Where: "D", Release: "upstream-4.5"})
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, plan.ErrInput)
			offset, rest, _ := cutOffset(c.refused)
			require.Contains(t, err.Error(), fmt.Sprintf("D/%s: offset %d: %s", name, end+offset, rest))
			p, err := PlanFrom(tree, 1, FromOptions{Release: "kip1262"})
			require.NoError(t, err, "left to the node")
			_, v := bootPlan(t, p)
			require.True(t, v.Outcome.Finding(), "whose answer is no better: %s", v.Outcome) // stopped, or an invariant about the same
		})
	}
}

func cutOffset(text string) (offset int64, rest string, err error) {
	found := regexp.MustCompile(`^(\d+): (.*)$`).FindStringSubmatch(text)
	_, err = fmt.Sscan(found[1], &offset)
	return offset, found[2], err
}

// TestGoldenSnapshotsThatNobodyReplays: of Kafka's snapshots with random records those are refused whose nodes would stop.
func TestGoldenSnapshotsThatNobodyReplays(t *testing.T) {
	root := filepath.Join(filepath.Dir(goldenDir()), "snapshots")
	content, err := os.ReadFile(filepath.Join(root, "index.json"))
	require.NoError(t, err)
	var cases []struct {
		File    string
		Batches []goldenBatch
	}
	require.NoError(t, json.Unmarshal(content, &cases))
	require.NotEmpty(t, cases)
	for _, c := range cases {
		tree := partitionTree(t, filepath.Join(root, filepath.FromSlash(c.File)))
		p, err := PlanFrom(tree, 1, FromOptions{})
		if err != nil {
			continue
		}
		_, _, err = ExaminedPlanFrom(tree, 1, FromOptions{Where: "D"})
		_, v := bootPlan(t, p)
		if len(v.Stopped) == 0 {
			require.NoError(t, err, c.File)
			continue
		}
		require.ErrorIs(t, err, plan.ErrInput, "%s: %s", c.File, v.Stopped[0].Error)
		found := regexp.MustCompile(`^D/dir0/` + partition + filepath.Base(c.File) + `: offset (\d+): (\w+): `).FindStringSubmatch(err.Error())
		require.NotNil(t, found, err.Error())
		named := false
		for _, b := range c.Batches {
			for _, r := range b.Records {
				named = named || number(r.Offset) == found[1] && r.Name == found[2]
			}
		}
		require.True(t, named, "%s: %s", c.File, err)
	}
}
