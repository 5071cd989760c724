package wire

import (
	"errors"
	"testing"

	"github.com/kraftsim/kraftsim/raft"
)

// seeds adds whole messages of every kind in every version.
func seeds(add func(kind uint32, version int16, body []byte)) {
	for _, zero := range allMessages() {
		key, _ := apiKeyOf(zero.Kind())
		for version := int16(0); version <= newest(key); version++ {
			m := full(zero.Kind())
			if v, ok := m.(*raft.VoteRequest); ok {
				v.PreVote = version >= 2
			}
			if v, ok := m.(*raft.AddRaftVoterRequest); ok {
				v.AckWhenCommitted = version == 0
			}
			if body, err := Encode(m, version); err == nil {
				add(m.Kind(), version, body)
			}
		}
	}
}

// checkCanonical fails unless a message that was decoded is in canonical form and survives another round.
func checkCanonical(t *testing.T, m raft.Message, version int16) {
	t.Helper()
	n, err := Normalize(m, version)
	if errors.Is(err, ErrUnsupportedVersion) && version < fetchByTopicID {
		return // a Fetch that raft reads only to refuse it
	}
	if err != nil {
		t.Fatalf("decoded what cannot be encoded: %v", err)
	}
	body, err := Encode(n, version)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Decode(m.Kind(), version, body)
	if err != nil {
		t.Fatal(err)
	}
	setCorrelation(d, Correlation(m))
	if string(n.AppendTo(nil)) != string(d.AppendTo(nil)) {
		t.Fatalf("%v came back as %v", n, d)
	}
	if n != m && string(n.AppendTo(nil)) == string(m.AppendTo(nil)) {
		t.Fatalf("%v is canonical but was copied", m)
	}
}

func FuzzDecode(f *testing.F) {
	seeds(func(kind uint32, version int16, body []byte) { f.Add(kind, version, body) })
	f.Fuzz(func(t *testing.T, kind uint32, version int16, body []byte) {
		m, err := Decode(kind, version, body)
		if err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnsupportedVersion) && !errors.Is(err, ErrUnknownKind) {
				t.Fatalf("an error that nobody can match: %v", err)
			}
			return
		}
		if m.Kind() != kind {
			t.Fatalf("kind %d decoded as %d", kind, m.Kind())
		}
		checkCanonical(t, m, version)
	})
}

func FuzzDecodeRequest(f *testing.F) {
	seeds(func(kind uint32, version int16, body []byte) {
		if key, response := apiKeyOf(kind); !response {
			h := RequestHeader{APIKey: key, Version: version, Correlation: 5, ClientID: "c", ClientIDKnown: true}
			f.Add(append(h.appendTo(nil, requestHeaderVersion(key, version)), body...))
		}
	})
	f.Fuzz(func(t *testing.T, frame []byte) {
		h, m, err := DecodeRequest(frame)
		if err != nil {
			return
		}
		if Correlation(m) != h.Correlation {
			t.Fatal("correlation id lost")
		}
		checkCanonical(t, m, h.Version)
	})
}

func FuzzDecodeResponse(f *testing.F) {
	seeds(func(kind uint32, version int16, body []byte) {
		if key, response := apiKeyOf(kind); response {
			f.Add(key, version, append(make([]byte, 4+responseHeaderVersion(key, version)), body...))
		}
	})
	f.Fuzz(func(t *testing.T, key, version int16, frame []byte) {
		m, err := DecodeResponse(key, version, frame)
		if err != nil {
			return
		}
		if v, ok := m.(*raft.ApiVersionsResponse); ok && v.ErrorCode == raft.UnsupportedVersion {
			version = 0
		}
		checkCanonical(t, m, version)
	})
}

func FuzzNextFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, 1, 2, 3})
	f.Fuzz(func(t *testing.T, stream []byte) {
		frame, rest, ok, err := NextFrame(stream)
		switch {
		case err != nil:
			return
		case ok && len(frame)+len(rest)+4 != len(stream), !ok && len(rest) != len(stream):
			t.Fatalf("%d bytes became %d and %d", len(stream), len(frame), len(rest))
		}
	})
}
