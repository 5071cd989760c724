// Package kraftsim carries the directories that Apache Kafka's own format tool wrote, so that scenarios, the command line
// and other modules can boot simulated clusters from them without any file outside the binary.
//
// The simulator is in sim/..., the system under test in raft/... and metadata/..., the catalogue in scenarios.
package kraftsim

import "embed"

// Formatted holds testdata/golden/formatted: one folder per case, each with log directories (dir0, dir1) as Kafka left
// them, and index.json with the arguments given to the formatter. See testdata/golden/README.md.
//
//go:embed all:testdata/golden/formatted
var Formatted embed.FS
