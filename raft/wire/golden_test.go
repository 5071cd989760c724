package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft/internal/golden"
	"github.com/kraftsim/kraftsim/raft/record"
)

// body is a line of the golden files of bodies, header a line of those of headers, frame a line of frames.jsonl.
type (
	body struct {
		Name                   string
		Kind                   string
		APIKey                 int16
		Version                int16
		HeaderVersion          int16
		Hex                    string
		JSON                   map[string]any
		HasUnknownTaggedFields bool
		UnknownTaggedFields    []struct {
			Tag uint32
			Hex string
		}
	}
	frame struct {
		Name          string
		Kind          string
		APIKey        int16
		Version       int16
		HeaderVersion int16
		CorrelationID int32
		ClientID      *string
		FrameHex      string
	}
)

// bodies returns the golden bodies of all messages.
func bodies(t *testing.T) []body {
	t.Helper()
	var out []body
	for _, m := range allMessages() {
		out = append(out, golden.Lines[body](t, path.Join("rpc", reflect.TypeOf(m).Elem().Name()+".jsonl"))...)
	}
	return out
}

// codec is a request or response of kmsg.
type codec interface {
	kmsgMessage
	AppendTo([]byte) []byte
}

// newCodec returns kmsg's struct for a golden line.
func newCodec(kind string, apiKey int16) codec {
	if kind == "request" {
		return kmsg.RequestForKey(apiKey)
	}
	return kmsg.ResponseForKey(apiKey)
}

// kindOf returns raft's kind for a golden line.
func kindOf(kind string, apiKey int16) uint32 {
	if kind == "request" {
		return uint32(apiKey) << 1
	}
	return uint32(apiKey)<<1 | 1
}

// TestGoldenBodies: kmsg reads every body as Kafka does, field by field, and writes it back byte for byte, unknown tagged
// fields included.
func TestGoldenBodies(t *testing.T) {
	for i, line := range bodies(t) {
		where := fmt.Sprintf("%s %d, line %d", line.Name, line.Version, i)
		raw := golden.Hex(t, line.Hex)
		k := newCodec(line.Kind, line.APIKey)
		require.NoError(t, read(k, line.Version, raw), where)
		require.True(t, bytes.Equal(raw, k.AppendTo(nil)), where)
		if problem := compare(reflect.ValueOf(k).Elem(), line.JSON); problem != "" {
			t.Errorf("%s: %s", where, problem)
		}
		tags := reflect.ValueOf(k).Elem().FieldByName("UnknownTags").Interface().(kmsg.Tags)
		require.Equal(t, len(line.UnknownTaggedFields), tags.Len(), where)
		n := 0
		tags.Each(func(tag uint32, data []byte) {
			require.Equal(t, line.UnknownTaggedFields[n].Tag, tag)
			require.Equal(t, golden.Hex(t, line.UnknownTaggedFields[n].Hex), data)
			n++
		})
		_, response := apiKeyOf(kindOf(line.Kind, line.APIKey))
		if response {
			require.Equal(t, line.HeaderVersion, responseHeaderVersion(line.APIKey, line.Version), where)
		} else {
			require.Equal(t, line.HeaderVersion, requestHeaderVersion(line.APIKey, line.Version), where)
		}
	}
}

// other names that Kafka's JSON gives a field of kmsg, all in lower case.
var aliases = map[string][]string{
	"topic":                {"topicname", "name"},
	"topics":               {"responses"},
	"partition":            {"partitionindex", "index"},
	"throttlemillis":       {"throttletimems"},
	"timeoutmillis":        {"timeoutms"},
	"maxwaitmillis":        {"maxwaitms"},
	"forgottentopics":      {"forgottentopicsdata"},
	"brokers":              {"nodeendpoints"},
	"rack":                 {"rackid"},
	"recordbatches":        {"records"},
	"bytes":                {"unalignedrecords"},
	"id":                   {"replicaid"},
	"epoch":                {"replicaepoch"},
	"candidateepoch":       {"replicaepoch"},
	"candidateid":          {"replicaid"},
	"offset":               {"endoffset"},
	"lastfetchtimems":      {"lastfetchtimestamp"},
	"minkraftversion":      {"minsupportedversion"},
	"candidatedirectoryid": {"replicadirectoryid"},
}

// find returns the value that an object of Kafka's JSON has for a field.
func find(object map[string]any, name string) (key string, value any, found bool) {
	names := append([]string{strings.ToLower(name)}, aliases[strings.ToLower(name)]...)
	for _, n := range names {
		for key, value := range object { // one key at most is equal, so the order does not matter
			if strings.ToLower(key) == n {
				return key, value, true
			}
		}
	}
	return "", nil, false
}

// compare returns in what a value of kmsg or raft differs from Kafka's JSON; "" for nothing. Fields that the JSON lacks must
// have kmsg's default, and no key of the JSON may be left over.
func compare(v reflect.Value, want any) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() != (want == nil) {
			return fmt.Sprintf("%v is not %v", v, want)
		}
		if v.IsNil() {
			return ""
		}
		return compare(v.Elem(), want)
	case reflect.Struct:
		return compareStruct(v, want)
	case reflect.Array:
		return differs(uuidOf(v).String(), want)
	case reflect.Slice:
		return compareList(v, want)
	case reflect.Bool:
		return differs(v.Bool(), want)
	case reflect.String:
		return differs(v.String(), want)
	case reflect.Uint16:
		return differs(json.Number(strconv.FormatUint(v.Uint(), 10)), want)
	}
	return differs(json.Number(strconv.FormatInt(v.Int(), 10)), want)
}

func uuidOf(v reflect.Value) record.UUID {
	var u record.UUID
	reflect.Copy(reflect.ValueOf(u[:]), v)
	return u
}

func differs(got, want any) string {
	if got != want {
		return fmt.Sprintf("%v is not %v", got, want)
	}
	return ""
}

func compareList(v reflect.Value, want any) string {
	if want == nil {
		if v.Len() > 0 {
			return "null is not empty"
		}
		return ""
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return differs(base64.StdEncoding.EncodeToString(v.Bytes()), want)
	}
	list, ok := want.([]any)
	if !ok || len(list) != v.Len() {
		return fmt.Sprintf("%d elements are not %v", v.Len(), want)
	}
	for i := range list {
		if problem := compare(v.Index(i), list[i]); problem != "" {
			return fmt.Sprintf("[%d]: %s", i, problem)
		}
	}
	return ""
}

func compareStruct(v reflect.Value, want any) string {
	object, ok := want.(map[string]any)
	if !ok {
		return fmt.Sprintf("struct is not %v", want)
	}
	defaults := reflect.New(v.Type())
	if d := defaults.MethodByName("Default"); d.IsValid() {
		d.Call(nil)
	}
	seen := map[string]bool{}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "Version" || name == "UnknownTags" {
			continue
		}
		key, value, found := find(object, name)
		if !found {
			if d := defaults.Elem().Field(i); !reflect.DeepEqual(d.Interface(), v.Field(i).Interface()) && !isEmpty(v.Field(i)) {
				return fmt.Sprintf("%s: %v is not the default %v", name, v.Field(i), d)
			}
			continue
		}
		if seen[key] {
			return fmt.Sprintf("two fields for %s", key)
		}
		seen[key] = true
		if problem := compare(v.Field(i), value); problem != "" {
			return name + ": " + problem
		}
	}
	if len(seen) != len(object) {
		return fmt.Sprintf("%d of %d keys of %v seen", len(seen), len(object), object)
	}
	return ""
}

func isEmpty(v reflect.Value) bool { return v.Kind() == reflect.Slice && v.Len() == 0 }
