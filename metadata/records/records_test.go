package records

import (
	"encoding/hex"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("rapid.seed").Value.String() == "0" {
		if err := flag.Set("rapid.seed", "1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func text(s string) *string { return &s }

// The vectors V1 to V5 of formats 10.
func TestVectors(t *testing.T) {
	for _, c := range []struct {
		record Record
		hex    string
	}{
		{&FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 22}, "010c00116d657461646174612e76657273696f6e001600"},
		{&NoOpRecord{}, "01140000"},
		{&EndTransactionRecord{}, "01180000"},
		{&BeginTransactionRecord{Name: text("Bootstrap records")}, "01170001001212426f6f747374726170207265636f726473"},
		{&ClusterIdRecord{ClusterId: "abc"}, "011e000461626300"},
	} {
		frame := Append([]byte("x"), c.record, 0)[1:]
		require.Equal(t, c.hex, hex.EncodeToString(frame))
		back, version, err := Decode(frame)
		require.NoError(t, err)
		require.Equal(t, int16(0), version)
		require.Equal(t, c.record, back)
	}
}

func TestCheckRefusesWhatAVersionCannotCarry(t *testing.T) {
	long := strings.Repeat("x", maxStringBytes+1)
	broker := NewRegisterBrokerRecord()
	broker.LogDirs = append(broker.LogDirs, [16]byte{1})
	for name, c := range map[string]struct {
		record  Record
		version int16
		say     string
	}{
		"version above":   {&NoOpRecord{}, 1, "unknown record version"},
		"version below":   {&NoOpRecord{}, -1, "unknown record version"},
		"absent field":    {broker, 2, "RegisterBrokerRecord.LogDirs is set"},
		"long string":     {&ClusterIdRecord{ClusterId: long}, 0, "ClusterIdRecord.ClusterId has 32768 bytes"},
		"long null str":   {&ConfigRecord{Value: &long}, 0, "ConfigRecord.Value"},
		"long in array":   {&DelegationTokenRecord{Renewers: []string{long}}, 0, "Renewers"},
		"long nested":     {&ClientQuotaRecord{Entity: []EntityData{{EntityType: long}}}, 0, "EntityData.EntityType"},
		"tag is known":    {&BeginTransactionRecord{UnknownTags: []record.TaggedField{{Tag: 0}}}, 0, "tag 0 is a known field"},
		"tags not sorted": {&NoOpRecord{UnknownTags: []record.TaggedField{{Tag: 2}, {Tag: 2}}}, 0, "does not ascend"},
	} {
		err := c.record.Check(c.version)
		require.ErrorContains(t, err, c.say, name)
		require.PanicsWithError(t, err.Error(), func() { Append(nil, c.record, c.version) }, name)
	}
	require.NoError(t, broker.Check(3))
}

func TestDecodeSentinels(t *testing.T) {
	for frame, want := range map[string]error{
		"":                   ErrMalformed,
		"00140000":           ErrMalformed,
		"02140000":           ErrMalformed,
		"010d0000":           ErrUnknownKey,
		"01140100":           ErrUnknownVersion,
		"0114000000":         ErrMalformed,
		"01180001":           ErrMalformed,
		"0114000205000500":   ErrMalformed, // tag 5 twice
		"011700010a00":       nil,          // unknown tag 10, empty
		"01170001000100":     nil,          // tag 0 holds null
		"010c00ffffffff0f00": ErrMalformed, // huge string
		"0100000000000100":   ErrMalformed,
		"01110000000001" + "000000000000000201020000": ErrMalformed, // tag 2 before version 2
	} {
		raw, err := hex.DecodeString(frame)
		require.NoError(t, err)
		_, _, err = Decode(raw)
		if want == nil {
			require.NoError(t, err, frame)
			continue
		}
		require.ErrorIs(t, err, want, frame)
	}
}

// Malformed UTF-8 reads as Java reads it: one replacement character for each maximal piece.
func TestDecodeText(t *testing.T) {
	for in, want := range map[string]string{
		"abc":               "abc",
		"\xffa":             "\ufffda",
		"\xc1a":             "\ufffda",
		"\xe6\x97a":         "\ufffda",
		"\xe6a":             "\ufffda",
		"\xed\xa0\x80":      "\ufffd",
		"\xf0\x9f\x98":      "\ufffd",
		"\xf0\x9fa":         "\ufffda",
		"\xf4\x90\x80\x80":  "\ufffd\ufffd\ufffd\ufffd",
		"\xe0\x80\x80":      "\ufffd\ufffd\ufffd",
		"\u65e5\xc3\u65e5":  "\u65e5\ufffd\u65e5",
		"\xf8\x88\x80\x80é": "\ufffd\ufffd\ufffd\ufffdé",
		"\ufffdstays\ufffd": "\ufffdstays\ufffd",
	} {
		require.Equal(t, want, decodeText([]byte(in)), "%q", in)
	}
}

// Whatever fields a record has, what Append writes Decode reads back equal, in every version that can carry it.
func TestRoundTripProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New(rapid.SampledFrom(allKeys()).Draw(t, "key"))
		fill(t, reflect.ValueOf(r).Elem())
		_, highest := r.Versions()
		version := rapid.Int16Range(0, highest).Draw(t, "version")
		if r.Check(version) != nil {
			version = highest
		}
		frame := Append(nil, r, version)
		back, backVersion, err := Decode(frame)
		if err != nil {
			t.Fatal(err)
		}
		if backVersion != version {
			t.Fatalf("version %d read as %d", version, backVersion)
		}
		if again := Append(nil, back, version); string(again) != string(frame) {
			t.Fatalf("%x rewritten as %x", frame, again)
		}
		if want, got := canonical(r), canonical(back); want != got {
			t.Fatalf("%s read back as %s", want, got)
		}
		for cut := range frame {
			if _, _, err := Decode(frame[:cut]); err == nil {
				t.Fatalf("%x cut to %d bytes decodes", frame, cut)
			}
		}
	})
}

func allKeys() (keys []int16) {
	for key := range int16(64) {
		if New(key) != nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// fill draws every field of a struct, leaving UnknownTags to a tag that no schema has.
func fill(t *rapid.T, v reflect.Value) {
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		if name == "UnknownTags" {
			if rapid.Bool().Draw(t, "unknown") {
				field.Set(reflect.ValueOf([]record.TaggedField{{Tag: 5000, Data: []byte{1, 2}}}))
			}
			continue
		}
		fillValue(t, name, field)
	}
}

func fillValue(t *rapid.T, name string, field reflect.Value) {
	switch field.Kind() {
	case reflect.Bool:
		field.SetBool(rapid.Bool().Draw(t, name))
	case reflect.Int8:
		field.SetInt(int64(rapid.Int8().Draw(t, name)))
	case reflect.Int16:
		field.SetInt(int64(rapid.Int16().Draw(t, name)))
	case reflect.Int32:
		field.SetInt(int64(rapid.Int32().Draw(t, name)))
	case reflect.Int64:
		field.SetInt(rapid.Int64().Draw(t, name))
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		field.SetUint(uint64(rapid.Uint8().Draw(t, name)))
	case reflect.String:
		field.SetString(rapid.String().Draw(t, name))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, name+" is null") {
			field.SetZero()
			return
		}
		field.Set(reflect.New(field.Type().Elem()))
		fillValue(t, name, field.Elem())
	case reflect.Array, reflect.Slice:
		if field.Kind() == reflect.Slice {
			n := rapid.IntRange(0, 3).Draw(t, name+" length")
			field.Set(reflect.MakeSlice(field.Type(), n, n))
		}
		for i := range field.Len() {
			fillValue(t, name, field.Index(i))
		}
	case reflect.Struct:
		fill(t, field)
	default:
		t.Fatalf("%s: kind %s not covered", name, field.Kind())
	}
}

// canonical prints a record so that an empty list and a missing one look alike.
func canonical(r Record) string {
	var out strings.Builder
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				out.WriteString("null ")
				return
			}
			walk(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Slice, reflect.Array:
			out.WriteString("[")
			for i := range v.Len() {
				walk(v.Index(i))
			}
			out.WriteString("]")
		default:
			out.WriteString(strings.ReplaceAll(reflect.ValueOf(v.Interface()).String(), " ", "_"))
			if v.CanInt() || v.CanUint() || v.Kind() == reflect.Bool {
				out.WriteString(hex.EncodeToString([]byte(strings.Join([]string{formatScalar(v)}, ""))))
			}
			out.WriteString(" ")
		}
	}
	walk(reflect.ValueOf(r))
	return out.String()
}

func formatScalar(v reflect.Value) string {
	switch {
	case v.CanInt():
		return hex.EncodeToString(record.AppendInt64(nil, v.Int()))
	case v.CanUint():
		return hex.EncodeToString(record.AppendInt64(nil, int64(v.Uint())))
	case v.Bool():
		return "true"
	}
	return "false"
}

func FuzzDecode(f *testing.F) {
	for i, line := range goldenLines(f, "metadata-records.jsonl") {
		if frame, err := hex.DecodeString(line.Hex); err == nil && i%4 == 0 && len(frame) < 200 {
			f.Add(frame)
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		r, version, err := Decode(frame)
		if err != nil {
			return
		}
		again := Append(nil, r, version)
		back, _, err := Decode(again)
		require.NoError(t, err)
		require.Equal(t, canonical(r), canonical(back))
		require.Equal(t, again, Append(nil, back, version))
	})
}

func TestEncodingAllocatesOnlyTheBuffer(t *testing.T) {
	record, buf := &FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 22}, make([]byte, 0, 64)
	require.Zero(t, testing.AllocsPerRun(100, func() { buf = Append(buf[:0], record, 0) }))
}

// What generated code would call for fields that no record has yet: null bytes, which are not empty ones, and null in some
// versions only.
func TestNullableBlobs(t *testing.T) {
	for _, c := range []struct {
		blob []byte
		hex  string
	}{{nil, "00"}, {[]byte{}, "01"}, {[]byte{7, 8}, "030708"}} {
		raw := appendNullableBlob(nil, c.blob)
		require.Equal(t, c.hex, hex.EncodeToString(raw))
		in := reader{record.NewReader(raw)}
		back := in.nullableBlob()
		require.NoError(t, in.Err())
		require.Equal(t, c.blob, back)
		clear(raw)
		require.Equal(t, c.blob, back, "a copy")
	}
	require.EqualError(t, errNotNullable("R.Blob", 1), "records: R.Blob is null, which version 1 does not allow")
}
