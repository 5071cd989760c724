// Package features is what each release of Kafka knows about versions: the metadata.version levels, the other features
// with their levels, defaults and dependencies, and what a level lets a controller write.
//
// The problem: every rule about "may this record be written", "which layout does the format tool leave", "is this
// upgrade legal" depends on two numbers, the level in force and the release that runs. Scattered comparisons with
// magic levels are how a record gets written one level too early. Here the levels are one table, releases are rows
// over it, and every gate has a name.
//
//	release, err := features.Find("kip1262")
//	level, err := release.ParseVersion("4.0")          // newest production level of 4.0: 22 or more
//	level = release.Latest(false)                      // what a formatter picks without --release-version
//	release.DefaultLevel(features.GroupVersion, level) // 1
//
// Releases (facts metadata-bootstrap 1.5, 4.2, 5.6, 5.7): "3.3" to "4.0" are the software of October 2024 and before
// (layout oct24), "upstream-4.5" is the trunk of August 2026 with level 34 as the empty, unstable placeholder that
// upstream has, and "kip1262" is the same with level 34 in production and meaning ClusterIdRecord (provisional, 4.2).
//
// Guarantees: all values are immutable, all lists ordered, no function depends on anything but its arguments.
//
// Refused: one Go constant per level (the table carries names already, and a constant invites comparison with it).
package features
