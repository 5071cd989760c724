// Package vdisk is a simulated volume that forgets what a real one may forget.
//
// A program that writes, renames and crashes tests nothing on a disk that keeps everything. On a real one the page cache
// dies with the power, file data, length and directory entries become durable apart, and fsync is a promise about one of
// them. This package keeps all of that as data, so that a crash is a choice among exactly the states that the rules below
// allow, one named decision per thing that can get lost.
//
// # Use
//
//	v := vdisk.NewVolume("n1:/data", vdisk.Model{})
//	h := v.Handle(host)                  // one lane of one process
//	fd, err := h.Open("/data/x", true)   // executed at once, issued to the host
//	err = h.WriteAt(fd, bytes, 0)
//	v.Commit(op)                         // the host, when the operation's time has come
//	v.Crash(vdisk.PowerLoss, nil, host)  // all that is in flight never happened, and more may be lost
//
// # Definitions
//
// An operation is issued when the program calls: the lane sees its effect at once. It is in flight until the host commits
// it; then other lanes, observers and File see it. A crash undoes what is in flight, apart from the operations in progress:
// those at the cut, one per lane. Between commit and fsync an operation is pending. The platter is what is durable.
//
// # Rules of the profile Ordered
//
//	R1  Kill: committed operations stay, pending ones stay pending. A write in progress leaves a prefix of its sectors,
//	    any other operation in progress happened or did not.
//	R2  Power loss: what is in flight and not in progress never happened. Writes, truncations and name changes in progress
//	    count as pending; an fsync or SyncDir in progress happened or did not.
//	R3  Names. Mkdir, create, rename and remove enter one metadata journal in the order of their commits. A power loss keeps
//	    a prefix of what is pending in it. SyncDir(d) makes durable the prefix that ends with the last change in d.
//	    A rename is one change, so a replaced name always leads to the old file or the new one.
//	R4  Length. Each write that extends a file is one size step for each sector that it reaches beyond the old length (a
//	    hole before its first byte belongs to the first step); each truncation that changes the length is one. A power loss
//	    keeps, for each file by itself, a prefix of the pending steps.
//	R5  A surviving size step has its data: nobody reads stale bytes. So the last extension to survive may be torn at
//	    a sector, and no other.
//	R6  fsync(f) settles data and length of f, and nothing about names: a new file can be whole and nameless (KAFKA-3968).
//	    Conversely names can outrun data: write, rename, lose power, and the new name may lead to an empty file, as on ext4
//	    without auto_da_alloc. Nothing becomes durable by itself: there is no background writeback.
//	R7  Overwriting. What a write puts over bytes that exist at that moment is divided by sectors, and each sector is a
//	    choice by itself: a prefix of the pending overwrites in it survives. Only bytes below the smallest length between
//	    that write and the surviving length take part: others lie in blocks that were not yet, or no longer, the file's.
//	R8  A sector is written whole: if a size step survives, and its bytes in a sector are below the smallest length between
//	    it and the surviving one, then so do the earlier overwrites in that sector.
//	R9  After a failed fsync the pages are clean: the writes under it stay readable until a power loss, and no later fsync
//	    makes them durable, only a later write to the same sector, which brings the whole sector. Truncations stay pending.
//
//	R10 Where the model keeps pages dirty after a failed fsync, that fsync was none: everything stays pending, and a later one may
//	    settle it.
//
// # Rules of the profile Posix
//
// What POSIX says is that fsync makes a file durable, and of a directory its names. It orders nothing else. R1, R2, R4, R6, R9 and R10
// hold as above; in place of R3, R5, R7 and R8:
//
//	P1  Names. A power loss keeps any set of the pending changes that has, with each change, the earlier ones that it stands on: those
//	    of the same name (a rename is about two), and of the directory that the name is in. So a rename is whole or never was, and a
//	    file may appear in one directory while an older one in another does not. SyncDir(d) makes the changes in d durable, with
//	    those that they stand on, and no others.
//	P2  A surviving size step may lack its data: the sector then reads as zeros, in the middle of a file as well as at its end.
//	P3  Each sector is a choice by itself, of overwrites and extensions alike: a prefix of the pending writes in it survives. A write
//	    is never torn inside a sector.
//
// # Sectors that go astray
//
// SetStray makes the drive lie: an fsync succeeds, and a sector of it is not on the platter (a lost write), or overwrites another sector
// there (a misdirected one). The page cache hides both; a power loss, and the reads after it, show them. A later write to the sector
// brings the whole of it, as in R9.
//
// R4 is a deviation from a journal that orders lengths with names: delayed allocation decides when an extension enters
// the journal, and without it R6's empty file could not happen. Truncations go with the extensions of their file.
//
// # Guarantees
//
// Deterministic: the state is a function of calls and decisions. An append, its fsync and both commits allocate nothing once
// buffers have grown, and copy the bytes once.
//
// # Refused
//
// Copying the disk at every sync point (costs the length of the log each time). One random stream for all losses
// (deleting one write would change the fate of the others). A sampler without an enumerator beside it: the test
// enumerates these rules from scratch and compares the sets.
package vdisk
