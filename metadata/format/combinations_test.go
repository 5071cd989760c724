package format

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/stretchr/testify/require"
)

// combination is one call of the tool out of the values that each flag and each key of the configuration may have: good, bad, repeated, empty.
type combination struct {
	release, version, quorum, scram string
	features                        []string
	roles                           Roles
	static, unstable, noNode        bool
}

// combinationValues are tried each with each: some 60,000 calls.
var combinationValues = struct {
	releases, versions, quorums, scrams []string
	features                            [][]string
	roles                               []Roles
}{
	releases: []string{"3.8", "4.0", "upstream-4.5", "kip1262"},
	versions: []string{"", "3.4", "3.9", "4.5", "4.5-IV0", "9.9"},
	quorums:  []string{"", "s", "N", "I", "I bad", "I empty", "s N", "s I"},
	scrams:   []string{"", "SCRAM-SHA-256=[name=a,salt=YQ==,saltedpassword=YQ==]", "SCRAM-SHA-256"},
	features: [][]string{
		nil, {"group.version=0"}, {"group.version"}, {"group.version=9"}, {"color=1"}, {"kraft.version=0"}, {"kraft.version=1"}, {"kraft.version=2"},
		{"metadata.version=22"}, {"metadata.version=99"}, {"group.version=9", "group.version=0"}, {"eligible.leader.replicas.version=1"},
		{"transaction.version=2", "color=1"},
	},
	roles: []Roles{0, Broker, Controller, Broker | Controller},
}

func (c *combination) options(t *testing.T) *Options {
	return base(t, c.release, func(o *Options) {
		o.ReleaseVersion, o.Features, o.Roles, o.StaticVoters, o.Unstable = c.version, c.features, c.roles, c.static, c.unstable
		o.Standalone, o.NoInitialControllers = strings.Contains(c.quorum, "s"), strings.Contains(c.quorum, "N")
		if c.scram != "" {
			o.Scram = []string{c.scram}
		}
		if c.noNode {
			o.NodeID = -1
		}
		if strings.Contains(c.quorum, "I") {
			o.InitialControllers = text(map[string]string{"I bad": "1@a", "I empty": ""}[c.quorum])
			if c.quorum == "I" || c.quorum == "s I" {
				o.InitialControllers = text(listA)
			}
		}
	})
}

// level is the level that a --feature gives, the last one counting.
func (c *combination) level(name string) (level int, given bool) {
	for _, f := range c.features {
		if n, number, _ := strings.Cut(f, "="); n == name {
			_, err := fmt.Sscan(number, &level)
			given = err == nil
		}
	}
	return level, given
}

// isDynamic is the second paragraph under the table of checks.
func (c *combination) isDynamic() bool {
	if c.release == "3.8" || c.release == "4.0" {
		return c.quorum == "s" || c.quorum == "I"
	}
	return !c.static
}

// facts are what metadata-bootstrap 1.5 and 5.6 say of a release, written down here a second time.
type factsOf struct {
	production, testing, minimum int
	features                     map[string]factsOfFeature
	versions                     map[string]int // of the versions that are tried
}

type factsOfFeature struct{ production, testing, needs int }

var combinationFacts = map[string]factsOf{
	"3.8": {20, 20, 4, map[string]factsOfFeature{}, map[string]int{"3.4": 8}},
	"4.0": {22, 25, 4, map[string]factsOfFeature{"kraft.version": {1, 1, 21}, "group.version": {1, 1, 7}, "transaction.version": {0, 2, 7}},
		map[string]int{"3.4": 8, "3.9": 21}},
	"upstream-4.5": {33, 34, 7, map[string]factsOfFeature{"kraft.version": {1, 1, 7}, "group.version": {1, 1, 7}, "transaction.version": {2, 2, 7},
		"eligible.leader.replicas.version": {1, 1, 23}}, map[string]int{"3.4": 8, "3.9": 21, "4.5-IV0": 34}},
	"kip1262": {34, 34, 7, map[string]factsOfFeature{"kraft.version": {1, 1, 7}, "group.version": {1, 1, 7}, "transaction.version": {2, 2, 7},
		"eligible.leader.replicas.version": {1, 1, 23}}, map[string]int{"3.4": 8, "3.9": 21, "4.5": 34, "4.5-IV0": 34}},
}

// expected is the first check of metadata-bootstrap 1.3 that the call fails, 0 for none, and the levels of one that passes.
func (c *combination) expected() (check, metadataVersion, kraftVersion int) {
	facts := combinationFacts[c.release]
	controller := c.roles&Controller != 0
	version, known := facts.versions[c.version]
	mv, mvGiven := c.level("metadata.version")
	kraft, kraftGiven := c.level("kraft.version")
	switch {
	case c.quorum == "s N" || c.quorum == "s I":
		return 1, 0, 0
	case c.roles == 0:
		return 2, 0, 0
	case c.version != "" && !known:
		return 3, 0, 0
	case slices.ContainsFunc(c.features, func(f string) bool { return !strings.Contains(f, "=") }):
		return 4, 0, 0
	case c.static && (c.quorum == "s" || strings.HasPrefix(c.quorum, "I")) && facts.minimum == 7:
		return 5, 0, 0
	case c.quorum == "I bad" || c.quorum == "I empty":
		return 6, 0, 0
	case c.quorum == "s" && !controller:
		return 7, 0, 0
	case controller && !c.static && c.quorum == "":
		return 8, 0, 0
	case c.noNode:
		return 9, 0, 0
	case mvGiven && c.version != "":
		return 10, 0, 0
	}
	switch {
	case mvGiven:
		metadataVersion = mv
	case c.version != "":
		metadataVersion = version
	case c.unstable:
		metadataVersion = facts.testing
	default:
		metadataVersion = facts.production
	}
	if metadataVersion > facts.testing || metadataVersion > facts.production && !c.unstable {
		return 11, 0, 0
	}
	for _, f := range c.features {
		name, _, _ := strings.Cut(f, "=")
		if _, known := facts.features[name]; !known && name != "metadata.version" {
			return 12, 0, 0
		}
	}
	dynamic := c.isDynamic()
	switch {
	case kraftGiven && kraft == 0 && dynamic:
		return 13, 0, 0
	case kraftGiven && kraft >= 1 && !dynamic:
		return 14, 0, 0
	}
	if kraftVersion = kraft; !kraftGiven && dynamic {
		kraftVersion = 1
	}
	levels := map[string]int{"kraft.version": kraftVersion}
	for _, f := range c.features {
		name, _, _ := strings.Cut(f, "=")
		levels[name], _ = c.level(name)
	}
	for name, level := range levels {
		f, known := facts.features[name]
		if level > 0 && name != "metadata.version" && (!known || level > f.testing || level > f.production && !c.unstable || metadataVersion < f.needs) {
			return 15, 0, 0
		}
	}
	if c.scram != "" && (metadataVersion < 11 || c.scram == "SCRAM-SHA-256") {
		return 16, 0, 0
	}
	return 0, metadataVersion, kraftVersion
}

// checkTexts tell the number of a check by its message; the first that fits counts.
var checkTexts = []struct {
	text  *regexp.Regexp
	check int
}{
	{regexp.MustCompile(`give only one of`), 1}, {regexp.MustCompile(`process\.roles is empty`), 2}, {regexp.MustCompile(`--release-version:`), 3},
	{regexp.MustCompile(`want NAME=LEVEL`), 4}, {regexp.MustCompile(`controller\.quorum\.voters is set`), 5}, {regexp.MustCompile(`in --initial-controllers`), 6},
	{regexp.MustCompile(`--standalone is only`), 7}, {regexp.MustCompile(`choose one of`), 8}, {regexp.MustCompile(`node\.id is -1`), 9},
	{regexp.MustCompile(`both given`), 10}, {regexp.MustCompile(`metadata\.version \d+ .* is not yet stable|metadata\.version=\d+: release`), 11},
	{regexp.MustCompile(`is not known`), 12}, {regexp.MustCompile(`the quorum is dynamic`), 13}, {regexp.MustCompile(`the quorum is not dynamic`), 14},
	{regexp.MustCompile(`unknown feature level|not yet stable: level|dependency not met|has no dynamic quorums`), 15}, {regexp.MustCompile(`--add-scram`), 16},
}

func checkOf(err error) int {
	if err == nil {
		return 0
	}
	for _, c := range checkTexts {
		if c.text.MatchString(err.Error()) {
			return c.check
		}
	}
	return -1
}

// TestEveryCombination tries each value of each flag and key with all values of the others: what is refused is refused by the first check of
// the facts that it fails, in one line and before the first write, and what passes has the levels that the facts give.
func TestEveryCombination(t *testing.T) {
	v, reached := &combinationValues, map[int]bool{}
	c := combination{}
	try := func() {
		o := c.options(t)
		r, err := resolve(o, &fixed{})
		check, level, kraft := c.expected()
		if got := checkOf(err); got != check {
			require.Failf(t, "another check", "%+v: check %d, want %d: %v", c, got, check, err)
		}
		if reached[check] = true; err != nil {
			require.ErrorIs(t, err, ErrOptions, "%+v", c)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.Equal(t, [2]int{level, kraft}, [2]int{int(r.metadataVersion), int(r.kraftVersion)}, "%+v", c)
	}
	for _, c.release = range v.releases {
		for _, c.version = range v.versions {
			for _, c.quorum = range v.quorums {
				for _, c.scram = range v.scrams {
					for _, c.features = range v.features {
						for _, c.roles = range v.roles {
							for flags := range 8 {
								c.static, c.unstable, c.noNode = flags&1 != 0, flags&2 != 0, flags&4 != 0
								try()
							}
						}
					}
				}
			}
		}
	}
	for check := range 17 {
		require.True(t, reached[check], "no combination fails check %d", check)
	}
}

// TestCombinationsThatPass: each way through is taken to the end on a disk, and a second call finds everything formatted.
func TestCombinationsThatPass(t *testing.T) {
	passed := 0
	for _, release := range features.Names() {
		for _, quorum := range combinationValues.quorums {
			for flags := range 4 {
				c := combination{release: release, quorum: quorum, roles: []Roles{Broker, Controller}[flags&1], static: flags&2 != 0}
				disk := filestest.NewMemory()
				first, err := run(disk, c.options(t))
				if err != nil {
					require.Empty(t, disk.Journal, "%+v", c)
					continue
				}
				passed++
				again := c.options(t)
				_, err = run(disk, again)
				require.ErrorIs(t, err, ErrFormatted)
				again.IgnoreFormatted = true
				second, err := run(disk, again)
				require.NoError(t, err)
				require.Empty(t, second.Formatted)
				require.Equal(t, first.MetadataVersion, second.MetadataVersion)
			}
		}
	}
	require.Greater(t, passed, 40)
}
