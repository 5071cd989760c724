// Package ledger keeps what campaigns did in a SQLite file, so that they go on after a kill, can be merged, and can be compared.
//
// A campaign writes three things: what a stage is to run, before it runs it; batches that are done, a few a second; and what it came
// to. Each is one transaction with a rollback journal, so that the file is, after a kill at any moment, the beginning of a campaign:
// no batch is lost that was written, none is there in part, and the key of the table lets none in twice.
//
//	l, err := ledger.Open("simrun-out/campaigns.db")
//	journal, err := l.Begin(ledger.Entry{Program: "simrun", Config: ...})  // a campaign.Store
//	...                                                                    // SIGKILL
//	journal, entry, past, err := l.Resume(id)                              // goes on: campaign.Config{Store: journal, Past: past}
//
// One file has any number of campaigns, and several processes may write to it, each its own campaign; any SQLite tool reads it. The
// tables are those of schema.go: campaigns, stages, batches (with the tally as JSON) and buckets.
//
// The driver is a translation of SQLite into Go: it makes the program six megabytes larger and its start half a millisecond slower, that
// of worker processes, too, which do nothing with it. A batch is a row of some six kilobytes, and a few batches a transaction of some
// milliseconds, five times a second at most.
//
// Refused: a write-ahead log, whose two further files get lost when somebody copies the one that they know, and which network file
// systems do not carry; a row for every run, because a run can be made again from its seed.
package ledger
