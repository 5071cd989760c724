package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/internal/golden"
	"github.com/kraftsim/kraftsim/raft/record"
)

// TestGoldenMessages: every golden body is read as a message of raft. Few of them speak of the metadata partition, so each is
// read a second time with the names changed to that; then every field of the message is what Kafka's JSON says.
func TestGoldenMessages(t *testing.T) {
	compared := 0
	for i, line := range bodies(t) {
		where := fmt.Sprintf("%s %d, line %d", line.Name, line.Version, i)
		kind := kindOf(line.Kind, line.APIKey)
		m, err := Decode(kind, line.Version, golden.Hex(t, line.Hex))
		if !portsFit(line.JSON) && err != nil {
			require.ErrorIs(t, err, ErrMalformed, where)
		} else {
			require.NoError(t, err, where)
			checkShape(t, m, line.JSON, where)
			checkAgain(t, m, line.Version, where)
		}

		k := newCodec(line.Kind, line.APIKey)
		require.NoError(t, read(k, line.Version, golden.Hex(t, line.Hex)))
		if !graft(reflect.ValueOf(k).Elem()) || line.APIKey == Fetch && line.Version < fetchByTopicID {
			continue // without a partition, or one that raft does not read
		}
		m, err = Decode(kind, line.Version, k.AppendTo(nil))
		if !portsFit(line.JSON) && err != nil {
			require.ErrorIs(t, err, ErrMalformed, where)
			continue
		}
		require.NoError(t, err, where)
		require.False(t, headerOf(m).WrongShape, where)
		checkFields(t, m, line, where)
		checkAgain(t, m, line.Version, where)
		compared++
	}
	require.Positive(t, compared)
}

// graft makes a message of kmsg speak of the metadata partition: its first partition, and nothing else, without an error of
// the whole. It returns false when there is no partition.
func graft(v reflect.Value) bool {
	topics := v.FieldByName("Topics")
	if !topics.IsValid() {
		return true
	}
	if topics.Len() == 0 || topics.Index(0).FieldByName("Partitions").Len() == 0 {
		return false
	}
	topics.Set(topics.Slice(0, 1))
	partitions := topics.Index(0).FieldByName("Partitions")
	partitions.Set(partitions.Slice(0, 1))
	partitions.Index(0).FieldByName("Partition").SetInt(0)
	if id := topics.Index(0).FieldByName("TopicID"); id.IsValid() {
		id.Set(reflect.ValueOf([16]byte(record.MetadataTopicID)))
	}
	topics.Index(0).FieldByName("Topic").SetString(metadataTopic)
	if code := v.FieldByName("ErrorCode"); code.IsValid() {
		code.SetInt(0)
	}
	return true
}

// checkShape: without graft, a message has the right shape when it has an error of the whole or the metadata partition alone.
func checkShape(t *testing.T, m raft.Message, object map[string]any, where string) {
	t.Helper()
	_, topics, found := find(object, "topics")
	if !found {
		require.False(t, headerOf(m).WrongShape, where)
		return
	}
	code := object["errorCode"]
	right := code != nil && code != json.Number("0")
	list, _ := topics.([]any)
	if p := partition(object); p != nil && len(list) == 1 && len(list[0].(map[string]any)["partitions"].([]any)) == 1 {
		_, name, named := find(list[0].(map[string]any), "topic")
		_, number, _ := find(p, "partition")
		isName := named && name == metadataTopic
		isID := list[0].(map[string]any)["topicId"] == record.MetadataTopicID.String()
		right = right || (isName || isID) && number == json.Number("0")
	}
	require.Equal(t, !right, headerOf(m).WrongShape, where)
}

// checkAgain writes the message and reads it again.
func checkAgain(t *testing.T, m raft.Message, version int16, where string) {
	t.Helper()
	n, err := Normalize(m, version)
	if err != nil {
		require.ErrorIs(t, err, ErrUnsupportedVersion, where)
		key, _ := apiKeyOf(m.Kind())
		require.True(t, key == Fetch && version < fetchByTopicID, where)
		return
	}
	encoded, err := Encode(m, version)
	require.NoError(t, err, where)
	d, err := Decode(m.Kind(), version, encoded)
	require.NoError(t, err, where)
	require.Equal(t, n, d, where)
	twice, err := Encode(d, version)
	require.NoError(t, err, where)
	require.True(t, bytes.Equal(encoded, twice), where)
}

// partition returns the first partition in Kafka's JSON of a message, or nil.
func partition(object map[string]any) map[string]any {
	_, topics, _ := find(object, "topics")
	list, _ := topics.([]any)
	if len(list) == 0 {
		return nil
	}
	partitions, _ := list[0].(map[string]any)["partitions"].([]any)
	if len(partitions) == 0 {
		return nil
	}
	p, _ := partitions[0].(map[string]any)
	return p
}

// checkFields compares each field with the JSON where the table of fields points.
func checkFields(t *testing.T, m raft.Message, line body, where string) {
	t.Helper()
	for _, f := range fields[m.Kind()] {
		if f.json == "-" || f.name == "ErrorCode" && partition(line.JSON) != nil {
			continue
		}
		got := at(m, f.name)
		want, found := lookup(line.JSON, f.json)
		if !found {
			require.Equal(t, f.zeroOr(got.Type()), got.Interface(), "%s: %s", where, f.name)
			continue
		}
		require.Empty(t, compareField(got, want), "%s: %s", where, f.name)
	}
	checkEndpoint(t, m, line, where)
	switch m := m.(type) {
	case *raft.DescribeQuorumResponse:
		checkReplicas(t, m.Voters, partition(line.JSON)["currentVoters"].([]any), where)
		checkReplicas(t, m.Observers, partition(line.JSON)["observers"].([]any), where)
	case *raft.EndQuorumEpochRequest:
		ids, _ := partition(line.JSON)["preferredSuccessors"].([]any)
		keys, _ := partition(line.JSON)["preferredCandidates"].([]any)
		require.Len(t, m.PreferredCandidates, len(ids)+len(keys), where)
		for i, id := range ids {
			require.Equal(t, id, number(m.PreferredCandidates[i].ID), where)
		}
		for i, key := range keys {
			require.Equal(t, key.(map[string]any)["candidateId"], number(m.PreferredCandidates[i].ID), where)
			require.Equal(t, key.(map[string]any)["candidateDirectoryId"], m.PreferredCandidates[i].DirectoryID.String(), where)
		}
	}
}

// lookup follows one of the paths, separated by bars, into Kafka's JSON.
func lookup(object map[string]any, paths string) (any, bool) {
	for _, path := range strings.Split(paths, "|") {
		var v any = object
		for _, step := range strings.Split(path, ".") {
			inner, _ := v.(map[string]any)
			if step == "p" {
				v = partition(inner)
				continue
			}
			found := false
			if v, found = inner[step]; !found {
				v = missing
			}
		}
		if v != missing {
			return v, true
		}
	}
	return nil, false
}

// missing stands for a path that leads nowhere.
var missing any = struct{ string }{"missing"}

// compareField is compare, for raft's own types of nullable texts and points.
func compareField(got reflect.Value, want any) string {
	switch v := got.Interface().(type) {
	case raft.ClusterID:
		return compareNullable(v.ID, v.Known, want)
	case raft.ErrorMessage:
		return compareNullable(v.Text, v.Known, want)
	}
	return compare(got, want)
}

func compareNullable(text string, known bool, want any) string {
	if !known {
		return differs(nil, want)
	}
	return differs(text, want)
}

func number(v int32) json.Number { return json.Number(fmt.Sprint(v)) }

// checkEndpoint: the leader's endpoint is the one among those of the response that has its id.
func checkEndpoint(t *testing.T, m raft.Message, line body, where string) {
	t.Helper()
	v := reflect.ValueOf(m).Elem()
	if !v.FieldByName("Endpoint").IsValid() {
		return
	}
	leader := number(int32(v.FieldByName("LeaderID").Int()))
	want := noEndpoint
	candidates, _ := line.JSON["nodeEndpoints"].([]any)
	if current, found := line.JSON["currentLeader"].(map[string]any); found && current["host"] != "" {
		candidates = []any{map[string]any{"nodeId": current["leaderId"], "host": current["host"], "port": current["port"]}}
	}
	for _, c := range candidates {
		c := c.(map[string]any)
		if c["nodeId"] != leader || strings.HasPrefix(string(leader), "-") {
			continue
		}
		port, err := c["port"].(json.Number).Int64()
		require.NoError(t, err)
		want = raft.NodeEndpoint{NodeID: int32(v.FieldByName("LeaderID").Int()), Host: c["host"].(string), Port: uint16(port)}
		break
	}
	require.Equal(t, want, v.FieldByName("Endpoint").Interface(), where)
}

// portsFit reports whether all ports in Kafka's JSON are ports.
func portsFit(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if !portsFit(e) {
				return false
			}
		}
	case map[string]any:
		for key, e := range v {
			if n, ok := e.(json.Number); ok && key == "port" {
				if p, err := n.Int64(); err != nil || p < 0 || p > 65535 {
					return false
				}
			}
			if !portsFit(e) {
				return false
			}
		}
	}
	return true
}

// checkReplicas compares described replicas.
func checkReplicas(t *testing.T, got []raft.DescribedReplica, want []any, where string) {
	t.Helper()
	require.Len(t, got, len(want), where)
	for i := range want {
		object := want[i].(map[string]any)
		r := &got[i]
		for _, c := range []struct {
			key    string
			got    any
			absent any
		}{
			{"replicaId", number(r.ID), nil},
			{"replicaDirectoryId", r.DirectoryID.String(), record.ZeroUUID.String()},
			{"logEndOffset", json.Number(fmt.Sprint(r.LogEndOffset)), nil},
			{"lastFetchTimestamp", json.Number(fmt.Sprint(r.LastFetchTimeMs)), json.Number("-1")},
			{"lastCaughtUpTimestamp", json.Number(fmt.Sprint(r.LastCaughtUpTimeMs)), json.Number("-1")},
		} {
			value, found := object[c.key]
			if !found {
				value = c.absent
			}
			require.Equal(t, value, c.got, "%s: replica %d: %s", where, i, c.key)
		}
	}
}

// TestGoldenHeaders: request and response headers, read and written back byte for byte.
func TestGoldenHeaders(t *testing.T) {
	for i, line := range golden.Lines[body](t, "rpc/RequestHeader.jsonl") {
		where := fmt.Sprintf("line %d", i)
		raw := golden.Hex(t, line.Hex)
		var h RequestHeader
		r := record.NewReader(raw)
		h.readFields(&r)
		h.readRest(&r, line.Version)
		require.NoError(t, r.Err(), where)
		require.Equal(t, int32(len(raw)), r.Offset(), where)
		require.Equal(t, line.JSON["requestApiKey"], number(int32(h.APIKey)), where)
		require.Equal(t, line.JSON["requestApiVersion"], number(int32(h.Version)), where)
		require.Equal(t, line.JSON["correlationId"], number(h.Correlation), where)
		require.Empty(t, compareNullable(h.ClientID, h.ClientIDKnown, line.JSON["clientId"]), where)
		require.Len(t, h.UnknownTags, len(line.UnknownTaggedFields), where)
		require.True(t, bytes.Equal(raw, h.appendTo(nil, line.Version)), where)
	}
	for i, line := range golden.Lines[body](t, "rpc/ResponseHeader.jsonl") {
		where := fmt.Sprintf("line %d", i)
		raw := golden.Hex(t, line.Hex)
		r := record.NewReader(raw)
		correlation := r.Int32()
		require.Equal(t, line.JSON["correlationId"], number(correlation), where)
		again := record.AppendInt32(nil, correlation)
		if line.Version >= 1 {
			tags := r.UnknownTags()
			require.Len(t, tags, len(line.UnknownTaggedFields), where)
			again = record.AppendUnknownTags(again, tags)
		}
		require.NoError(t, r.Err(), where)
		require.True(t, bytes.Equal(raw, again), where)
	}
}

// TestGoldenFrames: whole frames, taken apart and put together again byte for byte.
func TestGoldenFrames(t *testing.T) {
	for i, line := range golden.Lines[frame](t, "rpc/frames.jsonl") {
		where := fmt.Sprintf("%s %d, line %d", line.Name, line.Version, i)
		raw := golden.Hex(t, line.FrameHex)
		content, rest, ok, err := NextFrame(raw)
		require.NoError(t, err, where)
		require.True(t, ok, where)
		require.Empty(t, rest, where)
		r := record.NewReader(content)
		again := make([]byte, 4)
		var m raft.Message
		if line.Kind == "request" {
			require.Equal(t, line.HeaderVersion, requestHeaderVersion(line.APIKey, line.Version), where)
			var h RequestHeader
			if h, m, err = DecodeRequest(content); err == nil {
				require.Equal(t, line.APIKey, h.APIKey, where)
				require.Equal(t, line.Version, h.Version, where)
				require.Equal(t, line.ClientID != nil, h.ClientIDKnown, where)
				if line.ClientID != nil {
					require.Equal(t, *line.ClientID, h.ClientID, where)
				}
			}
			h.readFields(&r)
			h.readRest(&r, line.HeaderVersion)
			again = h.appendTo(again, line.HeaderVersion)
		} else {
			require.Equal(t, line.HeaderVersion, responseHeaderVersion(line.APIKey, line.Version), where)
			m, err = DecodeResponse(line.APIKey, line.Version, content)
			again = record.AppendInt32(again, r.Int32())
			if line.HeaderVersion >= 1 {
				again = record.AppendUnknownTags(again, r.UnknownTags())
			}
		}
		require.NoError(t, r.Err(), where)
		if err != nil { // a random port of 32 bits
			require.ErrorIs(t, err, ErrMalformed, where)
			require.Contains(t, []uint32{raft.KindFetchResponse, raft.KindUpdateRaftVoterResponse}, kindOf(line.Kind, line.APIKey), where)
		} else {
			require.Equal(t, line.CorrelationID, Correlation(m), where)
			require.Equal(t, kindOf(line.Kind, line.APIKey), m.Kind(), where)
		}
		k := newCodec(line.Kind, line.APIKey)
		require.NoError(t, read(k, line.Version, content[r.Offset():]), where)
		again = k.AppendTo(again)
		record.AppendInt32(again[:0], int32(len(again)-4))
		require.True(t, bytes.Equal(raw, again), where)
	}
}
