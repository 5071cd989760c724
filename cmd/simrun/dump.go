package main

import (
	"errors"
	"strings"

	"github.com/kraftsim/kraftsim/internal/dump"
	"github.com/kraftsim/kraftsim/sim/cli"
	"github.com/spf13/cobra"
)

const dumpHelp = `Dump decodes the files of a node's storage: a folder of log directories, one log directory, the directory of a metadata log,
or one file. Segments and snapshots come batch by batch with position, offsets, epoch, checksum and time, and record by
record: control records by name, metadata records by name and version, both with the JSON of Kafka's own converter. A record
that cannot be decoded shows as key, version and hex. Indexes, leader-epoch-checkpoint, partition.metadata, quorum-state,
meta.properties, bootstrap.checkpoint and what is left over from interrupted operations (.deleted, .part, .tmp, ...) are decoded
too; other files are listed as unknown. Directories are read in the order of names; links are followed to files, and to
directories from DIR itself. Nothing is written.

Damage is told with its position and reason, and the dump goes on as far as any of Kafka's readers would. Of a log it says where
recovery at start would cut and what it would drop, and where the raft reader stops. A warning is odd but taken by Kafka without
a word: a gap between offsets, an epoch that goes back, damage in what is left over.

With --json every line is one JSON object with a type: file, batch, record, indexEntry, timeIndexEntry, epoch, quorumState,
metaProperties, partitionMetadata, problem, end, recovery, summary and a few more. Batches and records have the field names of
testdata/golden. Numbers of 64 bits have all their digits.

Exit code 0: everything decodes. 1: something is damaged, or cannot be decoded. 2: bad usage, nothing of Kafka's there, or
something cannot be read.`

// dumpCommand returns `dump`.
func dumpCommand() *cobra.Command {
	var options dump.Options
	cmd := &cobra.Command{
		Use:   "dump DIR|FILE",
		Short: "Decode the files of a metadata log or of a node's storage",
		Long:  dumpHelp,
		Example: "  simrun dump testdata/golden/segment\n  simrun dump --json /var/kafka | jq -c 'select(.type == \"record\") | .json'\n" +
			"  simrun dump --as log suspicious.bin\n  simrun dump --hex /var/kafka/__cluster_metadata-0/00000000000000000000.log",
	}
	cmd.Flags().StringVar(&options.As, "as", "", "kind of a file whose name does not tell it: "+strings.Join(dump.Kinds(), ", "))
	cmd.Flags().BoolVar(&options.Hex, "hex", false, "the value of every record in hex, not only of those that cannot be decoded")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return cli.Usagef("dump takes one directory or file, not %d", len(args))
		}
		options.JSON = cli.JSON(cmd)
		if !options.JSON {
			if err := cli.Configure(cmd, args, nil).Print(cmd.OutOrStdout()); err != nil {
				return err
			}
		}
		summary, err := dump.Dump(cmd.OutOrStdout(), args[0], options)
		switch {
		case errors.Is(err, dump.ErrKind) && options.As != "":
			return cli.Usagef("--as: %s", strings.TrimPrefix(err.Error(), "dump: "))
		case errors.Is(err, dump.ErrPath), errors.Is(err, dump.ErrKind), errors.Is(err, dump.ErrUnreadable), errors.Is(err, dump.ErrNothing):
			return cli.Usagef("%s", strings.TrimPrefix(err.Error(), "dump: "))
		case err != nil:
			return err
		case summary.Damaged > 0:
			return cli.ErrFinding
		}
		return nil
	}
	return cmd
}
