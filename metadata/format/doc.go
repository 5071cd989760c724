// Package format does what `kafka-storage format` does: it gives the log directories of a node their identity and, on
// controllers, the metadata that the cluster starts with.
//
// The problem: formatting decides the cluster id, the first voters and the first metadata.version, and a mistake is
// found much later by a node that does not start or, worse, starts. So every check comes before the first write, in
// the order of the original, and a directory counts as formatted only when everything else in it is durable.
//
//	options := format.Options{
//		Release: release, Roles: format.Controller, NodeID: 1, ClusterID: &id,
//		Directories: []string{"/data/dir0"}, MetadataDir: "/data/dir0",
//		Listener: "CONTROLLER", Host: "c1", Port: 9093, Standalone: true,
//	}
//	result, err := format.Format(disk, &options, format.Deps{Chooser: chooser, Clock: clock})
//
// Guarantees (facts metadata-bootstrap 1.3 to 1.8)
//
//   - The release decides the layout: oct24 leaves bootstrap.checkpoint everywhere, aug26 only 0-0.checkpoint on
//     controllers.
//   - Per directory: the directory, the checkpoints, then meta.properties, each durable before the next. A crash
//     leaves a directory that is formatted or one that a second run formats again, over whatever was left.
//   - An error in the options writes nothing. Every error is one line that names the flag, file or field.
//   - Ids, salts and times come from Chooser and Clock; the rest is a function of the options. The same code
//     formats real directories (metadata/osfiles) and simulated ones.
//
// Deviations from the original: directories are formatted in ascending order of their path (there: order of a hash
// table), --feature counts in oct24 too (there the tool reads the flag and forgets it), the zero directory id in
// --initial-controllers is refused (there it makes a voter that can never vote), and so is an empty SCRAM password.
// An empty --cluster-id is accepted as there, except at a metadata.version that has the ClusterIdRecord (KIP-1262).
package format
