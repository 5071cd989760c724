package dump

import (
	"math"

	"github.com/kraftsim/kraftsim/raft/record"
)

// checkpointID returns offset and epoch in the name of a snapshot: the first 20 and, after one character, the next 10
// characters (formats.md 6).
func checkpointID(name string) (offset, epoch int64, ok bool) {
	if len(name) < 31 {
		return 0, 0, false
	}
	offset, ok1 := digits(name[:20])
	epoch, ok2 := digits(name[21:31])
	return offset, epoch, ok1 && ok2 && epoch <= math.MaxInt32
}

// dumpCheckpoint reports a snapshot of the metadata log.
func dumpCheckpoint(f *file) error {
	_, epoch, ok := checkpointID(f.name)
	if !ok && f.dir.partition {
		f.damage(-1, "the name does not begin with an offset and an epoch: Kafka refuses to start")
	}
	b := newBatches(f, false)
	b.nextOffset = 0
	if ok {
		b.epoch = int32(epoch)
	}
	if err := b.walk(); err != nil {
		return err
	}
	if ok && b.batches > 0 && int64(b.epoch) != epoch {
		f.warn(-1, "the batches have epoch %d, the name says %d", b.epoch, epoch)
	}
	if b.firstControl != record.SnapshotHeader {
		b.stopAt = 0
		f.damage(0, "the first record is no SNAPSHOT_HEADER")
	}
	if b.lastControl != record.SnapshotFooter {
		f.damage(f.in.size, "the last record is no SNAPSHOT_FOOTER: the snapshot is not complete")
	}
	b.end()
	return nil
}

// dumpBootstrap reports a bootstrap.checkpoint, whose reader asks for neither header nor footer nor checksums. A
// damaged checksum is damage all the same.
func dumpBootstrap(f *file) error {
	if f.dir.partition {
		f.damage(-1, "the name does not begin with an offset and an epoch: Kafka refuses to start")
	}
	b := newBatches(f, false)
	b.nextOffset = 0
	if err := b.walk(); err != nil {
		return err
	}
	if b.firstControl != record.SnapshotHeader || b.lastControl != record.SnapshotFooter {
		f.warn(-1, "no SNAPSHOT_HEADER at the beginning or no SNAPSHOT_FOOTER at the end; the reader of this file asks for neither")
	}
	b.end()
	return nil
}
