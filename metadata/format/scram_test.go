package format

import (
	"encoding/base64"
	"testing"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
)

// The example of RFC 7677: user "user", password "pencil", 4096 iterations.
func TestScramKeys(t *testing.T) {
	const salt = "W22ZaJ0SNY7soEsUEjb6gQ=="
	r, err := parseScram("SCRAM-SHA-256=[name=user,password=pencil,salt="+salt+"]", &fixed{})
	require.NoError(t, err)
	require.Equal(t, "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=", base64.StdEncoding.EncodeToString(r.StoredKey))
	require.Equal(t, "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=", base64.StdEncoding.EncodeToString(r.ServerKey))
	require.Equal(t, int32(4096), r.Iterations)
	require.Equal(t, int8(1), r.Mechanism)

	salted := "xKSVEDI6tPlSysH6mUQZOeeOp01r6B3fcJbodRPcYV0=" // Hi("pencil", salt, 4096)
	same, err := parseScram(`SCRAM-SHA-256=[saltedpassword="`+salted+`",name=user,salt="`+salt+`"]`, &fixed{})
	require.NoError(t, err)
	require.Equal(t, r, same)
}

func TestScramSaltIsDrawnPerUser(t *testing.T) {
	a, err := parseScram(" SCRAM-SHA-512=[name=a,password=p,iterations=16384] ", &fixed{})
	require.NoError(t, err)
	b, err := parseScram("SCRAM-SHA-512=[name=b,password=p]", &fixed{})
	require.NoError(t, err)
	require.NotEqual(t, a.Salt, b.Salt)
	require.Equal(t, int8(2), a.Mechanism)
	require.Len(t, a.StoredKey, 64)
	require.Regexp(t, "^[0-9a-z]{20,26}$", string(a.Salt))
}

func TestScramRefuses(t *testing.T) {
	for argument, want := range map[string]string{
		"x":                                "no equals sign",
		"SCRAM-MD5=[name=a]":               "not supported",
		"SCRAM-SHA-256=name=a":             "in [ and ]",
		"SCRAM-SHA-256=[":                  "in [ and ]",
		"SCRAM-SHA-256=[]":                 "no equals sign",
		"SCRAM-SHA-256=[name]":             "no equals sign",
		"SCRAM-SHA-256=[name=a]":           "one of password and saltedpassword",
		"SCRAM-SHA-256=[password=a]":       "name is missing",
		"SCRAM-SHA-256=[name=a,password=]": "password is empty",
		"SCRAM-SHA-256=[name=a,password=b,saltedpassword=AAAA]": "one of password and saltedpassword",
		"SCRAM-SHA-256=[name=a,saltedpassword=AAAA]":            "needs salt",
		"SCRAM-SHA-256=[name=a,saltedpassword=,salt=AAAA]":      "saltedpassword is empty",
		"SCRAM-SHA-256=[name=a,saltedpassword=!,salt=AAAA]":     "saltedpassword is not base64",
		"SCRAM-SHA-256=[name=a,password=b,salt=A\nAAA]":         "salt is not base64",
		"SCRAM-SHA-256=[name=a,password=b,iterations=4095]":     "from 4096 to 16384",
		"SCRAM-SHA-256=[name=a,password=b,iterations=16385]":    "from 4096 to 16384",
		"SCRAM-SHA-256=[name=a,password=b,iterations=x]":        "from 4096 to 16384",
		"SCRAM-SHA-256=[name=a,password=b,color=red]":           `"color" is not known`,
	} {
		_, err := parseScram(argument, &fixed{})
		require.ErrorIs(t, err, ErrOptions, argument)
		require.ErrorContains(t, err, want, argument)
	}
}

// stubborn draws the same bits for the first attempts.
type stubborn struct {
	words    [4]int64
	attempts int
	calls    int
}

func (s *stubborn) Choose(_ Site, _ uint64, n int64) int64 {
	word := s.calls % 4
	attempt := s.calls / 4
	s.calls++
	if attempt < s.attempts {
		return s.words[word]
	}
	return (s.words[word] + int64(attempt)<<29 + 1) % n
}

func TestNewDirectoryID(t *testing.T) {
	taken := record.UUIDFromHalves(1<<32|2, 3<<32|4)
	for name, words := range map[string][4]int64{
		"reserved":     {0, 0, 0, 99},
		"signed":       {0, 0, 1 << 31, 0},
		"leading dash": {0xf8000000, 0, 0, 1},
		"taken":        {1, 2, 3, 4},
	} {
		s := &stubborn{words: words, attempts: 3}
		id, err := NewDirectoryID(s, "/d", []record.UUID{taken})
		require.NoError(t, err, name)
		require.Equal(t, 16, s.calls, name)
		require.False(t, id.IsReserved())
		require.NotEqual(t, taken, id)
		require.NotEqual(t, "-", id.String()[:1])
	}
	_, err := NewDirectoryID(&stubborn{attempts: 1000}, "/d", nil)
	require.ErrorContains(t, err, "no fresh directory id")
}

func FuzzParseVoters(f *testing.F) {
	f.Add(listA + " , " + listB)
	f.Add("1@[::1]:9093:F2YZqouCbrffmWE02jzh0g")
	f.Fuzz(func(t *testing.T, list string) {
		voters, err := ParseVoters(list)
		if err != nil {
			require.ErrorIs(t, err, ErrOptions)
			return
		}
		for _, v := range voters {
			again, err := ParseVoter(v.String())
			require.NoError(t, err)
			require.Equal(t, v, again)
		}
		require.Len(t, VotersRecord(voters, "x").Voters, len(voters))
	})
}

func FuzzParseScram(f *testing.F) {
	f.Add(`SCRAM-SHA-256=[name=a,salt="AAAA",saltedpassword=AAAA]`)
	f.Fuzz(func(t *testing.T, argument string) {
		if r, err := parseScram(argument, &fixed{}); err != nil {
			require.ErrorIs(t, err, ErrOptions)
		} else {
			require.NoError(t, r.Check(0))
		}
	})
}
