package vdisk

// OpID numbers the operations of one volume in the order of their issue, from 1 on. NoOp marks a cost without effect.
type OpID int64

// NoOp is handed to Host.Issue for what costs time and changes nothing: reads, listings, operations that failed.
const NoOp OpID = 0

// Kind says what an operation did.
type Kind uint8

// The kinds that Host.Issue and Commit see, and the two that only a power loss produces.
const (
	OpNone       Kind = iota
	OpMkdir           // Path is a new directory
	OpCreate          // Path is a new, empty file
	OpWrite           // Data at Offset; Size is the length afterwards; Err is ErrNoSpace when Data is what still fitted
	OpTruncate        // the file has Size bytes now; growth reads as zeros
	OpSync            // the first Size bytes, all that there are, are durable
	OpSyncFailed      // fsync returned Err: nothing became durable, nor will by a later fsync (R9), unless Kept (R10)
	OpRename          // Path is To now; what To named before is gone
	OpRemove          // Path names nothing any more
	OpSyncDir         // the names in directory Path are durable
	OpReset           // after a power loss Path holds exactly Data, Size bytes, all durable; copy Data to keep it
	OpVanish          // after a power loss Path names nothing
	OpRead            // only in decision names and cost tables: reads are not journaled
	kindCount
)

var kindNames = [kindCount]string{"none", "mkdir", "create", "write", "truncate", "sync", "sync-failed", "rename", "remove",
	"sync-dir", "reset", "vanish", "read"}

// String returns the kind as one lower case word, for traces.
func (k Kind) String() string {
	if k < kindCount {
		return kindNames[k]
	}
	return "unknown"
}

// Op is one operation. Hosts and observers read it; the volume owns it. A pointer is good until the call that gave it
// away returns (Commit's observer, Host.Issue) or, from Volume.Op, until the next operation is issued.
type Op struct {
	ID     OpID
	Inode  int64 // identity of the file or directory: never reused within a run, survives rename
	Path   string
	To     string // OpRename only
	Offset int64
	Size   int64 // length of the file after the operation
	Data   []byte
	Err    error
	Kind   Kind
	Kept   bool // OpSyncFailed: the pages stay dirty, and a later fsync may make them durable (R10)

	done     bool     // committed or cut
	rewrite  bool     // changed bytes that existed: undo holds them
	slot     int32    // of the inode
	replaced int32    // slot of the file that To named before, or -1
	oldSize  int64    // length before
	undo     []byte   // bytes before, kept with the slot of the ring
	astray   []Astray // OpSync: sectors that do not come to where they belong
	wide     []byte   // what reaches the disk when it is more than Data (R9)
}

// begin makes op a new operation on an inode, whatever it was before. It is done field by field, which is faster than making an Op
// and copying it.
func (op *Op) begin(id OpID, kind Kind, inode int64, path string, slot int32) {
	op.ID, op.Kind, op.Inode, op.Path, op.slot, op.replaced = id, kind, inode, path, slot, -1
	op.To, op.Offset, op.Size, op.Data, op.Err, op.Kept = "", 0, 0, nil, nil, false
	op.done, op.rewrite, op.oldSize, op.undo, op.astray, op.wide = false, false, 0, op.undo[:0], nil, nil
}
