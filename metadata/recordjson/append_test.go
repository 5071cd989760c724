package recordjson_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/recordjson"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestMain pins the seed of the property tests, so that two runs draw the same.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f.Value.String() == f.DefValue {
		_ = flag.Set("rapid.seed", "7")
	}
	os.Exit(m.Run())
}

func TestFloat64AsJavaPrintsIt(t *testing.T) {
	for want, v := range map[string]float64{
		"0.0": 0, "-0.0": math.Copysign(0, -1), "1.0": 1, "-256.5": -256.5, "0.001": 0.001, "9999999.0": 9999999,
		"1.0E7": 1e7, "1.2345678E7": 12345678, "9.99E-4": 0.000999, "1.7976931348623157E308": math.MaxFloat64,
		"4.9E-324": math.SmallestNonzeroFloat64, "-1.0E-5": -1e-5, "1.0E100": 1e100,
		`"NaN"`: math.NaN(), `"Infinity"`: math.Inf(1), `"-Infinity"`: math.Inf(-1),
	} {
		require.Equal(t, want, string(recordjson.AppendFloat64(nil, math.Float64bits(v))))
	}
}

func TestFloat64RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.Uint64().Draw(t, "bits")
		text := string(recordjson.AppendFloat64(nil, bits))
		var decoded any
		require.NoError(t, json.Unmarshal([]byte(text), &decoded))
		if text[0] == '"' {
			return
		}
		got, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		require.Equal(t, bits, math.Float64bits(got))
	})
}

func TestStringRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text")
		text := recordjson.AppendString(nil, want)
		for _, c := range string(text) {
			require.False(t, c < ' ' || c >= 0x7f && c < 0xa0, "%q goes to the terminal", c)
		}
		var got string
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, want, got)
	})
	require.Equal(t, `"a\"\\\n\r\t\u0000\u007f\u009b\u202eé😀`+"\ufffd"+`"`,
		string(recordjson.AppendString(nil, "a\"\\\n\r\t\x00\x7f\u009b\u202eé😀\xff")))
}

func TestFieldsFollowTheVersion(t *testing.T) {
	r := records.NewPartitionChangeRecord()
	r.Isr = []int32{}
	r.Directories = []record.UUID{{15: 1}}
	require.Equal(t, `{"partitionId":-1,"topicId":"AAAAAAAAAAAAAAAAAAAAAA","isr":[]}`, string(recordjson.Append(nil, r, 0)))
	require.Equal(t, `{"partitionId":-1,"topicId":"AAAAAAAAAAAAAAAAAAAAAA","isr":[],"directories":["AAAAAAAAAAAAAAAAAAAAAQ"]}`,
		string(recordjson.Append(nil, r, 1)))
	require.Panics(t, func() { recordjson.Append(nil, r, 3) })
	require.Equal(t, `{"name":"","mechanism":0,"salt":"","storedKey":"/w==","serverKey":"","iterations":0}`,
		string(recordjson.Append(nil, &records.UserScramCredentialRecord{StoredKey: []byte{0xff}}, 0)))
	require.Equal(t, `{"resourceType":0,"resourceName":"","name":"","value":null}`,
		string(recordjson.Append(nil, records.NewConfigRecord(), 0)))
}

func TestControlRecordsThatAreNone(t *testing.T) {
	_, _, err := recordjson.AppendControl(nil, 1, []byte{0, 0, 0})
	require.Error(t, err)
	for kind := record.LeaderChange; kind <= record.KRaftVoters; kind++ {
		_, _, err := recordjson.AppendControl(nil, kind, []byte{0})
		require.ErrorIs(t, err, record.ErrTruncated)
	}
}
