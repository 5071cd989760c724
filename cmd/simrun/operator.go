package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim/cli"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

// operatorReport is what run adds to the JSON document of an operator's question: every row of it, played with the same seed.
type operatorReport struct {
	Table []scenarios.OperatorAnswer `json:"table"`
}

// operatorTable plays the rows of an operator's question beside the one that the seed drew, and prints them.
func operatorTable(cmd *cobra.Command, p *plan.Plan) (*operatorReport, error) {
	table, err := scenarios.OperatorTable(p.Scenario, uint64(p.Seed))
	if err != nil {
		return nil, err
	}
	if cli.JSON(cmd) {
		return &operatorReport{table}, nil
	}
	return &operatorReport{table}, printOperatorTable(cmd.OutOrStdout(), table)
}

func printOperatorTable(w io.Writer, table []scenarios.OperatorAnswer) error {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "played\texpected\tseen\t")
	for i := range table {
		a := &table[i]
		mark := ""
		if !a.AsTold {
			mark = "NOT AS EXPECTED"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", a.Row, a.Expected, a.Seen, mark)
	}
	return t.Flush()
}
