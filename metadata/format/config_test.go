package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const controllerConfig = "process.roles = controller\nnode.id:1\ncontroller.listener.names=CONTROLLER\nlisteners=CONTROLLER://c1:9093\n"

func TestParseConfig(t *testing.T) {
	c, err := ParseConfig([]byte(controllerConfig + "log.dirs=/d/1/,/d/0 , ,/d/0\nmetadata.log.dir=/m\ncontroller.quorum.voters=1@c1:9093,2@c2:9093\n"))
	require.NoError(t, err)
	require.Equal(t, &Config{
		Roles: Controller, NodeID: 1, Directories: []string{"/d/0", "/d/1", "/m"}, MetadataDir: "/m", Voters: "1@c1:9093,2@c2:9093",
		Listener: "CONTROLLER", Host: "c1", Port: 9093,
	}, c)
	require.Empty(t, c.Warnings())
	var o Options
	c.Apply(&o)
	require.Equal(t, Options{Roles: Controller, NodeID: 1, Directories: c.Directories, MetadataDir: "/m", StaticVoters: true,
		Listener: "CONTROLLER", Host: "c1", Port: 9093}, o)

	for name, k := range map[string]struct {
		config string
		want   Config
	}{
		"first directory has the log": {"log.dirs=/b,/a", Config{NodeID: -1, Directories: []string{"/a", "/b"}, MetadataDir: "/b"}},
		"log.dir":                     {"log.dir=/a\nbroker.id=7", Config{NodeID: 7, Directories: []string{"/a"}, MetadataDir: "/a"}},
		"log.dirs wins":               {"log.dirs=/b\nlog.dir=/a", Config{NodeID: -1, Directories: []string{"/b"}, MetadataDir: "/b"}},
		"metadata directory only":     {"metadata.log.dir=/m/", Config{NodeID: -1, Directories: []string{"/m"}, MetadataDir: "/m"}},
		"no roles, nothing checked":   {"controller.quorum.voters=x\nlisteners=y", Config{NodeID: -1, Voters: "x"}},
		"combined": {"process.roles=controller,broker\nlisteners=PLAINTEXT://:9092,CONTROLLER://[::1]:9094\ncontroller.listener.names=CONTROLLER",
			Config{Roles: Broker | Controller, NodeID: -1, Listener: "CONTROLLER", Host: "::1", Port: 9094}},
		"second listener name is advertised": {controllerConfig + "listeners=A://:1,B://:2\ncontroller.listener.names=A,B\nadvertised.listeners=B://b:3",
			Config{Roles: Controller, NodeID: 1, Listener: "A", Port: 1}},
		"broker": {"process.roles=broker\ncontroller.listener.names=CONTROLLER\nunstable.feature.versions.enable=True\ninter.broker.protocol.version=3.5",
			Config{Roles: Broker, NodeID: -1, Listener: "CONTROLLER", Unstable: true, InterBroker: "3.5"}},
	} {
		got, err := ParseConfig([]byte(k.config))
		require.NoError(t, err, name)
		require.Equal(t, k.want, *got, name)
	}
	c, err = ParseConfig([]byte(controllerConfig))
	require.NoError(t, err)
	require.Len(t, c.Warnings(), 1, "nobody names the controllers")
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(controllerConfig + "log.dirs=/a,/b\ncontroller.quorum.voters=1@c1:9093"))
	f.Add([]byte("process.roles=broker\nlisteners=A://[::1]:1,B:\\u00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := ParseConfig(content)
		if err != nil {
			require.ErrorIs(t, err, ErrOptions)
			return
		}
		require.True(t, len(c.Directories) == 0 || c.MetadataDir != "")
		for i, dir := range c.Directories {
			require.True(t, i == 0 || c.Directories[i-1] < dir, "ascending, each once")
		}
	})
}

func TestHidePassword(t *testing.T) {
	for argument, want := range map[string]string{
		"SCRAM-SHA-256=[name=alice,password=a b,iterations=5000]": "SCRAM-SHA-256=[name=alice,password=***,iterations=5000]",
		"SCRAM-SHA-256=[password=a,b,name=alice]":                 "SCRAM-SHA-256=[password=***,***,name=alice]",
		"SCRAM-SHA-512=[saltedpassword=AAAA,salt=BBBB]":           "SCRAM-SHA-512=[saltedpassword=***,salt=BBBB]",
		"password": "***", "password=secret": "***",
	} {
		require.Equal(t, want, HidePassword(argument))
	}
	_, err := parseScram("SCRAM-SHA-256=[name=alice,password=open,sesame]", &fixed{})
	require.ErrorContains(t, err, "no equals sign in item 3")
	require.False(t, strings.Contains(err.Error(), "sesame"), "no piece of a password in an error")
}
