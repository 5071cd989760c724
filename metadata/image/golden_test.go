package image

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// goldenLine is a record as Kafka wrote it.
type goldenLine struct {
	Hex         string
	UnknownTags bool `json:"hasUnknownTaggedFields"`
}

func goldenRecords(t *testing.T) (list []goldenLine) {
	t.Helper()
	dir := os.Getenv("KRAFTSIM_GOLDEN")
	if dir == "" {
		dir = filepath.Join("..", "..", "testdata", "golden")
	}
	file, err := os.Open(filepath.Join(dir, "metadata-records", "metadata-records.jsonl"))
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var line goldenLine
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		list = append(list, line)
	}
	require.NoError(t, lines.Err())
	return list
}

// basis returns what has to be there before a record can follow.
func basis(r records.Record) []records.Record {
	switch m := r.(type) {
	case *records.PartitionRecord:
		return []records.Record{&records.TopicRecord{Name: "t", TopicId: m.TopicId}}
	case *records.PartitionChangeRecord:
		p := &records.PartitionRecord{PartitionId: m.PartitionId, TopicId: m.TopicId, Replicas: make([]int32, max(len(m.Directories), 1))}
		if len(m.Replicas) > 0 {
			p.Replicas = []int32{7}
		}
		return []records.Record{&records.TopicRecord{Name: "t", TopicId: m.TopicId}, p}
	case *records.RemoveTopicRecord:
		return []records.Record{&records.TopicRecord{Name: "t", TopicId: m.TopicId}, &records.PartitionRecord{TopicId: m.TopicId}}
	case *records.ClearElrRecord:
		p := &records.PartitionRecord{TopicId: uuid(1), LastKnownElr: []int32{1}}
		return []records.Record{&records.TopicRecord{Name: m.TopicName, TopicId: uuid(1)}, p}
	case *records.BrokerRegistrationChangeRecord:
		return []records.Record{&records.RegisterBrokerRecord{BrokerId: m.BrokerId, BrokerEpoch: m.BrokerEpoch}}
	case *records.FenceBrokerRecord:
		return []records.Record{&records.RegisterBrokerRecord{BrokerId: m.Id, BrokerEpoch: m.Epoch}}
	case *records.UnfenceBrokerRecord:
		return []records.Record{&records.RegisterBrokerRecord{BrokerId: m.Id, BrokerEpoch: m.Epoch}}
	case *records.UnregisterBrokerRecord:
		return []records.Record{&records.RegisterBrokerRecord{BrokerId: m.BrokerId, BrokerEpoch: m.BrokerEpoch}}
	case *records.UnregisterControllerRecord:
		return []records.Record{&records.RegisterControllerRecord{ControllerId: m.ControllerId}}
	case *records.RemoveAccessControlEntryRecord:
		return []records.Record{&records.AccessControlEntryRecord{Id: m.Id}}
	}
	return nil
}

// Every record that Kafka wrote, in every version and with whatever is in it, is either refused for a reason or changes the
// image to something that comes back from its own snapshot. Where a record is the whole of an entry, it comes back to
// the byte.
func TestGoldenRecords(t *testing.T) {
	replayed, compared := 0, 0
	for _, line := range goldenRecords(t) {
		frame, err := hex.DecodeString(line.Hex)
		require.NoError(t, err)
		r, version, err := records.Decode(frame)
		require.NoError(t, err)
		base := apply(t, New(), basis(r)...)
		d := NewDelta(base)
		switch err := d.Replay(r); {
		case errors.Is(err, ErrNoPart):
			continue
		case err != nil:
			require.ErrorIs(t, err, ErrImpossible, "%s", line.Hex)
			require.True(t, nonsense(r), "%s %s: %v", r.RecordName(), line.Hex, err)
			continue
		}
		replayed++
		img := d.Apply(Provenance{Offset: 1, Epoch: 1})
		requireSound(t, img)
		requireDifference(t, d, base, img)
		var back [][]byte
		require.NoError(t, img.Write(&WriteOptions{MetadataVersion: canonicalLevel}, func(w records.Record, v int16) error {
			if wholeEntry(w) && w.APIKey() == r.APIKey() && !line.UnknownTags {
				require.Equal(t, line.Hex, hex.EncodeToString(records.Append(nil, w, version)))
				compared++
			}
			back = append(back, records.Append(nil, w, v))
			return nil
		}))
		if img.MetadataVersion() == 0 { // the level that was written is another one
			require.Equal(t, img.AppendTo(nil), load(t, New(), back).AppendTo(nil))
		}
	}
	require.NotZero(t, replayed)
	require.NotZero(t, compared)
}

// nonsense tells whether a record has a value that no controller writes: the golden ones are random.
func nonsense(r records.Record) bool {
	switch m := r.(type) {
	case *records.PartitionRecord:
		return m.LeaderRecoveryState < 0 || m.LeaderRecoveryState > 1 || len(m.Directories) != len(m.Replicas)
	case *records.PartitionChangeRecord:
		return m.LeaderRecoveryState < -1 || m.LeaderRecoveryState > 1 || len(m.Directories) != len(m.Replicas)
	case *records.BrokerRegistrationChangeRecord:
		return m.Fenced < -1 || m.Fenced > 1 || m.InControlledShutdown < 0 || m.InControlledShutdown > 1
	}
	return false
}

// wholeEntry tells whether an image keeps everything that a record says, as it is.
func wholeEntry(r records.Record) bool {
	switch r.(type) {
	case *records.TopicRecord, *records.ConfigRecord, *records.UserScramCredentialRecord, *records.AccessControlEntryRecord,
		*records.DelegationTokenRecord, *records.RegisterControllerRecord, *records.ClusterIdRecord:
		return true
	}
	return false
}

// The special directory ids are what KIP-858 says, since replicas without directories are given one of them.
func TestMigratingDirectories(t *testing.T) {
	for _, n := range []int{0, 1, 64, 65} {
		list := migrating(n)
		require.Len(t, list, n)
		for _, id := range list {
			require.Equal(t, record.DirectoryMigrating, id)
		}
	}
}
