package invariants

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// configured is an image in which a topic has some of four configurations.
func configured(t *testing.T, values ...string) *image.Image {
	t.Helper()
	d := image.NewDelta(image.New())
	for i := range values {
		r := &records.ConfigRecord{ResourceType: image.TopicResource, ResourceName: "t", Name: string(rune('a' + i)), Value: &values[i]}
		require.NoError(t, d.Replay(r))
	}
	return d.Apply(image.Provenance{Offset: 3, Epoch: 1})
}

func TestImagesThatDifferAreToldByField(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b *image.Image
		want string
	}{
		{"nobody has told the image", nil, configured(t), ""},
		{"one", configured(t, "1", "2"), configured(t, "1", "3"), `; b of configuration of topic t is "2" (here) and "3" (there)`},
		{"one that is missing", configured(t), configured(t, "1"), `; a of configuration of topic t is absent (here) and "1" (there)`},
		{"more than three", configured(t), configured(t, "1", "2", "3", "4", "5"), `; a of configuration of topic t is absent (here) and "1" (there)` +
			`, b of configuration of topic t absent and "2", c of configuration of topic t absent and "3"; and 2 more`},
		{"long values", configured(t, strings.Repeat("ä", 60)), configured(t, "1"), `; a of configuration of topic t is "` + strings.Repeat("ä", 44) + `... (here) and "1" (there)`},
	} {
		require.Equal(t, c.want, differing(c.a, c.b, "here", "there"), c.name)
	}
	l := threeUp(t, Config{})
	a, b := configured(t, "1"), configured(t, "2")
	l.core.imagePublished(l.node(1).r, 0, a.Digest(), a)
	l.core.imageShown(l.node(2).r, 0, b.Digest(), b, "reverted")
	l.breaks("images-equal/reverted")
	require.Contains(t, l.details[0],
		`a of configuration of topic t is "2" (in the controller of n2 after it gave up) and "1" (published by n1)`)
}
