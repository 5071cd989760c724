package raft

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/raft/record"
)

// TestAccumulatorAgainstModel: offsets are dense, all records of a call share a batch, batches keep within the limit,
// nothing is drained before its schedule, and what is drained is what was prepared, in order.
func TestAccumulatorAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := DefaultConfig()
		cfg.MaxBatchBytes = rapid.Int32Range(80, 300).Draw(t, "batch bytes")
		cfg.MaxUnwrittenBatches = rapid.Int32Range(1, 4).Draw(t, "batches")
		cfg.AppendLingerMs = rapid.Int64Range(0, 5).Draw(t, "linger")
		base := rapid.Int64Range(0, 1000).Draw(t, "base")
		var a accumulator
		a.open(3, base, &cfg, nil)
		var prepared []string // by offset - base
		var lastOf []int64    // last offset of the call that prepared it
		scheduled, written, now := 0, 0, int64(0)
		for step := rapid.IntRange(1, 40).Draw(t, "steps"); step > 0; step-- {
			switch rapid.IntRange(0, 3).Draw(t, "op") {
			case 0:
				values := rapid.SliceOfN(rapid.StringN(1, 30, 30), 0, 4).Draw(t, "values")
				records := make([][]byte, len(values))
				for i, v := range values {
					records[i] = []byte(v)
				}
				last, err := a.prepare(records)
				if err != nil {
					continue
				}
				require.Equal(t, base+int64(len(prepared)+len(values))-1, last)
				for range values {
					lastOf = append(lastOf, last)
				}
				prepared = append(prepared, values...)
			case 1:
				a.schedule()
				scheduled = len(prepared)
			case 2:
				now += rapid.Int64Range(0, 4).Draw(t, "ms")
			case 3:
				if a.drainDeadlineMs(now) > now {
					continue
				}
				for _, bytes := range a.drain(now) {
					require.LessOrEqual(t, int32(len(bytes)), cfg.MaxBatchBytes)
					b := record.Batch(bytes)
					require.NoError(t, b.Verify())
					require.Equal(t, base+int64(written), b.BaseOffset())
					require.EqualValues(t, 3, b.LeaderEpoch())
					require.Equal(t, lastOf[b.LastOffset()-base], b.LastOffset(), "a call is not split")
					var it record.Iterator
					var rec record.Record
					for it.Reset(b); it.Next(&rec); written++ {
						require.Equal(t, prepared[written], string(rec.Value))
					}
					require.NoError(t, it.Err())
					require.LessOrEqual(t, written, scheduled)
				}
			}
		}
		a.schedule()
		a.drainDeadlineMs(now)
		for _, bytes := range a.drain(now) {
			written += int(record.Batch(bytes).RecordCount())
		}
		require.Equal(t, len(prepared), written)
	})
}

func TestAccumulatorRefuses(t *testing.T) {
	cfg := DefaultConfig()
	cfg.MaxBatchBytes, cfg.MaxUnwrittenBatches = 80, 2
	var a accumulator
	a.open(1, 0, &cfg, nil)
	_, err := a.prepare(nil)
	require.ErrorIs(t, err, ErrNoRecords)
	_, err = a.prepare([][]byte{make([]byte, 30)})
	require.ErrorIs(t, err, ErrRecordBatchTooLarge)
	_, err = a.prepare([][]byte{make([]byte, 1)})
	require.NoError(t, err)
	_, err = a.prepare([][]byte{make([]byte, 30)})
	require.ErrorIs(t, err, ErrRecordBatchTooLarge)
	require.Empty(t, a.completed, "a refused call leaves the open batch open")
	for i := int64(1); i < 3; i++ { // the second and the third batch: two wait, one is open
		last, err := a.prepare([][]byte{make([]byte, 10)})
		require.NoError(t, err)
		require.Equal(t, i, last)
	}
	require.Len(t, a.completed, 2)
	_, err = a.prepare([][]byte{make([]byte, 1)})
	require.ErrorIs(t, err, ErrTooManyBatches, "before anything else is looked at")
	_, err = a.prepare([][]byte{make([]byte, 30)})
	require.ErrorIs(t, err, ErrTooManyBatches)
	a.appendControl(record.AppendBatch(nil, record.BatchSpec{Control: true}, []byte("x")), 1)
	require.Equal(t, never, a.drainDeadlineMs(7), "a control batch does not overtake what is not scheduled")
	a.schedule()
	require.EqualValues(t, 7, a.drainDeadlineMs(7), "a control batch does not linger")
	require.Len(t, a.drain(7), 4)
	require.Equal(t, never, a.drainDeadlineMs(7))
	require.True(t, a.isEmpty())
}

// TestAccumulatorBounds: a batch may be as large as the limit, to the byte. Whether a call can ever fit is asked where it would stand in
// the open batch, as in Kafka, where the position of a record may take a byte more; in a batch of its own it takes none (3.9).
func TestAccumulatorBounds(t *testing.T) {
	one := [][]byte{{1}}
	full := func(a *accumulator) { // 64 records, behind which a position takes two bytes
		for range 64 {
			_, err := a.prepare(one)
			require.NoError(t, err)
		}
	}
	sized := func(position, bytes int32) [][]byte { // a record that takes so many bytes there
		n := bytes
		for record.RecordSize(position, nil, make([]byte, n)) > bytes {
			n--
		}
		require.Equal(t, bytes, record.RecordSize(position, nil, make([]byte, n)))
		return [][]byte{make([]byte, n)}
	}
	cfg := DefaultConfig()
	cfg.MaxBatchBytes = record.BatchOverhead + 65*record.RecordSize(0, nil, one[0])

	var a accumulator
	a.open(1, 0, &cfg, nil)
	_, err := a.prepare(sized(0, cfg.MaxBatchBytes-record.BatchOverhead))
	require.NoError(t, err, "a batch of the largest size")
	a.open(1, 0, &cfg, nil)
	_, err = a.prepare(sized(0, cfg.MaxBatchBytes-record.BatchOverhead+1))
	require.ErrorIs(t, err, ErrRecordBatchTooLarge)

	a.open(1, 0, &cfg, nil)
	full(&a)
	_, err = a.prepare(sized(0, cfg.MaxBatchBytes-record.BatchOverhead))
	require.ErrorIs(t, err, ErrRecordBatchTooLarge, "at position 64 it takes a byte more")
	require.Empty(t, a.completed)
	_, err = a.prepare(one)
	require.NoError(t, err)
	require.Len(t, a.completed, 1, "a byte is missing for it")
	_, err = a.prepare(sized(1, cfg.MaxBatchBytes-record.BatchOverhead-record.RecordSize(0, nil, one[0])))
	require.NoError(t, err)
	require.Len(t, a.completed, 1, "it fills the second batch to the last byte")
	a.schedule()
	batches := a.drain(7)
	require.Len(t, batches, 2)
	require.Len(t, batches[1], int(cfg.MaxBatchBytes))
	require.EqualValues(t, 7, record.Batch(batches[1]).BaseTimestampMs(), "the time is that of the drain")
}
