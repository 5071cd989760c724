package format

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math/big"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
)

func goldenRoot() string {
	if root := os.Getenv("KRAFTSIM_GOLDEN"); root != "" {
		return root
	}
	return filepath.Join("..", "..", "testdata", "golden")
}

// goldenCase is one entry of formatted/index.json.
type goldenCase struct {
	Case               string
	NodeID             int32
	ClusterID          string
	ReleaseVersion     string
	InitialControllers *string
	UnstableFeatures   bool
	Listener           string `json:"controllerListenerName"`
	ScramArguments     []string
	Files              []goldenFile
}

type goldenFile struct {
	File        string
	DirectoryID string
	Batches     []struct {
		MaxTimestamp int64
		Records      []struct {
			Name string
			JSON struct {
				Name                      string
				Salt                      string
				Mechanism                 int8
				LastContainedLogTimestamp *int64
			}
		}
	}
}

// script plays back the choices and times of a golden case.
type script struct {
	t       *testing.T
	choices map[uint64]int64
	times   []int64
}

func (s *script) Choose(site Site, key uint64, n int64) int64 {
	v, ok := s.choices[key]
	require.True(s.t, ok, "site %d: a choice that the case does not have", site)
	require.Less(s.t, v, n)
	return v
}

func (s *script) NowMs() int64 {
	require.NotEmpty(s.t, s.times, "a reading of the clock that the case does not have")
	now := s.times[0]
	s.times = s.times[1:]
	return now
}

// load fills the script from the index, in the order in which Format asks, and returns the directories.
func (s *script) load(c *goldenCase) (dirs []string, metadataDir string) {
	s.choices = map[uint64]int64{}
	order := map[string]int{"bootstrap.checkpoint": 0, "00000000000000000000-0000000000.checkpoint": 1, "meta.properties": 2}
	dirOf := func(file string) string {
		parts := strings.Split(file, "/")
		return "/" + parts[0] + "/" + parts[1]
	}
	slices.SortFunc(c.Files, func(a, b goldenFile) int {
		if byDir := strings.Compare(dirOf(a.File), dirOf(b.File)); byDir != 0 {
			return byDir
		}
		return order[path.Base(a.File)] - order[path.Base(b.File)]
	})
	for _, file := range c.Files {
		dir := dirOf(file.File)
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		if strings.Contains(file.File, "__cluster_metadata-0") {
			metadataDir = dir
			s.times = append(s.times, *file.Batches[0].Records[0].JSON.LastContainedLogTimestamp)
		}
		for _, batch := range file.Batches {
			s.times = append(s.times, batch.MaxTimestamp)
			for _, r := range batch.Records {
				if r.Name == "UserScramCredentialRecord" {
					s.salt(r.JSON.Name, r.JSON.Salt, r.JSON.Mechanism)
				}
			}
		}
		if path.Base(file.File) == "meta.properties" {
			s.times = append(s.times, 0)
			s.directory(dir, file.DirectoryID)
		}
	}
	if metadataDir == "" {
		metadataDir = dirs[0]
	}
	return dirs, metadataDir
}

func (s *script) directory(dir, text string) {
	id, err := record.ParseUUID(text)
	require.NoError(s.t, err)
	for i := range 4 {
		s.choices[nameHash(dir)+uint64(i)] = int64(binary.BigEndian.Uint32(id[4*i:]))
	}
}

// salt makes a salt that Kafka drew come out of drawSalt; one that an argument states is not drawn at all.
func (s *script) salt(user, text string, number int8) {
	raw, err := base64.StdEncoding.DecodeString(text)
	require.NoError(s.t, err)
	n, ok := new(big.Int).SetString(string(raw), 36)
	if !ok {
		return
	}
	mask := big.NewInt(1<<26 - 1)
	for word := uint64(5); word > 0; word-- {
		key := nameHash(mechanisms[number-1].name+" "+user) + word - 1
		s.choices[key] = new(big.Int).And(n, mask).Int64()
		n.Rsh(n, 26)
	}
}

// Every case that Kafka's formatter left is made again: checkpoints byte for byte, meta.properties line by line.
func TestGoldenFormatted(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(goldenRoot(), "formatted", "index.json"))
	require.NoError(t, err)
	var cases []goldenCase
	require.NoError(t, json.Unmarshal(text, &cases))
	require.NotEmpty(t, cases)
	release, err := features.Find("4.0")
	require.NoError(t, err)
	for _, c := range cases {
		t.Run(c.Case, func(t *testing.T) {
			s := &script{t: t}
			dirs, metadataDir := s.load(&c)
			disk := filestest.NewMemory()
			result, err := Format(disk, &Options{
				Release: release, Roles: Controller, NodeID: c.NodeID, ClusterID: &c.ClusterID, Directories: dirs,
				MetadataDir: metadataDir, StaticVoters: c.InitialControllers == nil, Listener: c.Listener,
				Unstable: c.UnstableFeatures, ReleaseVersion: c.ReleaseVersion, Scram: c.ScramArguments,
				InitialControllers: c.InitialControllers,
			}, Deps{Chooser: s, Clock: s})
			require.NoError(t, err)
			require.Equal(t, dirs, result.Formatted)
			require.Empty(t, s.times)
			var names []string
			for _, file := range c.Files {
				names = append(names, "/"+file.File)
				want, err := os.ReadFile(filepath.Join(goldenRoot(), "formatted", file.File))
				require.NoError(t, err)
				got := disk.Content["/"+file.File]
				if path.Base(file.File) == "meta.properties" {
					require.Equal(t, lines(string(want)), lines(string(got)), file.File)
					continue
				}
				require.Equal(t, sortVoters(t, want, file), got, file.File)
			}
			slices.Sort(names)
			require.Equal(t, names, disk.Names())
		})
	}
}

// sortVoters brings the voters of a checkpoint, which Kafka writes in the order of a hash table, into ascending order.
func sortVoters(t *testing.T, content []byte, file goldenFile) []byte {
	t.Helper()
	checkpoint, err := bootstrap.ParseCheckpoint(content)
	require.NoError(t, err)
	if checkpoint.Voters == nil {
		return content
	}
	slices.SortFunc(checkpoint.Voters.Voters, func(a, b record.VoterEntry) int { return cmp.Compare(a.VoterID, b.VoterID) })
	last := len(file.Batches) - 1
	return checkpoint.AppendTo(nil, bootstrap.Times{
		HeaderMs: file.Batches[0].MaxTimestamp, DataMs: file.Batches[1].MaxTimestamp, FooterMs: file.Batches[last].MaxTimestamp,
	})
}

// lines returns the lines from the third on, sorted: the first two hold the date, the order is that of a hash table.
func lines(content string) []string {
	all := strings.Split(strings.TrimSuffix(content, "\n"), "\n")[2:]
	slices.Sort(all)
	return all
}

type goldenVoter struct {
	VoterID          int32
	VoterDirectoryID string
	Endpoints        []struct {
		Name, Host string
		Port       uint16
	}
	KRaftVersionFeature struct{ MinSupportedVersion, MaxSupportedVersion int16 }
}

func TestGoldenDynamicVoters(t *testing.T) {
	file, err := os.Open(filepath.Join(goldenRoot(), "primitives", "dynamic-voters.jsonl"))
	require.NoError(t, err)
	defer file.Close()
	scanner, seen := bufio.NewScanner(file), 0
	for scanner.Scan() {
		var line struct {
			Input, Result, PrintsAs, Message string
			Voters                           []struct {
				NodeID      int32
				DirectoryID string
				Host        string
				Port        uint16
			}
			VotersRecordV0 struct {
				Voters []goldenVoter
			}
		}
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &line))
		seen++
		voters, err := ParseVoters(line.Input)
		if line.Result != "ok" {
			require.ErrorIs(t, err, ErrOptions, "%q: %s", line.Input, line.Message)
			continue
		}
		require.NoError(t, err, line.Input)
		printed := make([]string, len(voters))
		for i, v := range voters {
			printed[i] = v.String()
			want := line.Voters[i]
			require.Equal(t, []any{want.NodeID, want.DirectoryID, want.Host, want.Port},
				[]any{v.NodeID, v.DirectoryID.String(), v.Host, v.Port})
		}
		require.Equal(t, line.PrintsAs, strings.Join(printed, ","))
		want := line.VotersRecordV0.Voters
		require.Len(t, voters, len(want))
		slices.SortFunc(want, func(a, b goldenVoter) int { return cmp.Compare(a.VoterID, b.VoterID) })
		for i, got := range VotersRecord(voters, want[0].Endpoints[0].Name).Voters {
			require.Equal(t, want[i].VoterID, got.VoterID)
			require.Equal(t, want[i].VoterDirectoryID, got.VoterDirectoryID.String())
			require.Equal(t, want[i].KRaftVersionFeature.MinSupportedVersion, got.MinSupportedVersion)
			require.Equal(t, want[i].KRaftVersionFeature.MaxSupportedVersion, got.MaxSupportedVersion)
			require.Len(t, got.Endpoints, len(want[i].Endpoints))
			for j, e := range want[i].Endpoints {
				require.Equal(t, record.VoterEndpoint{Name: e.Name, Host: e.Host, Port: e.Port}, got.Endpoints[j])
			}
		}
	}
	require.NoError(t, scanner.Err())
	require.NotZero(t, seen)
}
