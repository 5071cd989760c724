package campaign

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEvenly(t *testing.T) {
	require.Equal(t, []int64{4, 3, 3}, evenly(10, 3))
	require.Equal(t, []int64{1, 1, 0}, evenly(2, 3))
}

func TestByCostGivesEqualTime(t *testing.T) {
	counts := byCost(11_000, 20, []int64{1_000_000, 10_000_000})
	require.InDelta(t, 10_000, counts[0], 2)
	require.InDelta(t, 1_000, counts[1], 2)
	counts = byCost(100, 20, []int64{1, 1_000_000_000})
	require.Equal(t, int64(20), counts[1], "each gets its least")
	require.GreaterOrEqual(t, counts[0]+counts[1], int64(100))
}

func TestInterleaveCoversEverySeedOnce(t *testing.T) {
	lanes := []lane{{scenario: "a", next: 1, end: 8, batch: 3}, {scenario: "b", next: 5, end: 7, batch: 10}, {scenario: "c"}}
	seen := make(map[string][]uint64)
	for _, r := range interleave(lanes) {
		for i := range r.Count {
			seen[r.Scenario] = append(seen[r.Scenario], r.First+uint64(i))
		}
	}
	require.Equal(t, map[string][]uint64{"a": {1, 2, 3, 4, 5, 6, 7}, "b": {5, 6}}, seen)
	require.Equal(t, uint64(8), lanes[0].next)
}

func TestMedian(t *testing.T) {
	require.Equal(t, int64(0), median(nil))
	require.Equal(t, int64(2), median([]int64{3, 1, 2}))
	require.Equal(t, int64(2), median([]int64{4, 1, 3, 2}))
}

func TestReadMessageSurvivesRubbish(t *testing.T) {
	text := "hello\n" + mark + "{broken\n" + strings.Repeat("y", 1<<17) + "\n" + mark + `{"id":3}` + "\n" + mark + `{"id":4`
	r := bufio.NewReader(strings.NewReader(text))
	var ids []int64
	for {
		var res response
		err := readMessage(r, mark, &res)
		if err == io.EOF {
			break
		}
		if err == nil {
			ids = append(ids, res.ID)
		}
	}
	require.Equal(t, []int64{3}, ids, "a line that was cut off is no message")
}

func TestTailKeepsStartAndEnd(t *testing.T) {
	var s tail
	for range 1000 {
		_, err := s.Write(bytes.Repeat([]byte("m"), 100))
		require.NoError(t, err)
	}
	_, err := s.Write([]byte("end"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(s.String()), 3*keepTail)
	require.True(t, strings.HasSuffix(s.String(), "end"))
	require.Contains(t, s.String(), "...")
}

func TestFileName(t *testing.T) {
	require.Equal(t, "violation-mv-implies-cluster-id-none", FileName("violation/mv-implies-cluster-id/none"))
	require.Equal(t, "hazard-a", FileName("hazard//a ../"))
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(mark + `{"id":1,"batch":{"scenario":"x"}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		for range len(data) + 1 {
			var res response
			if err := readMessage(r, mark, &res); err == io.EOF {
				return
			}
		}
		t.Fatal("the end of the stream was not seen")
	})
}
