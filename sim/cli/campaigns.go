package cli

import (
	"fmt"
	"io"
	"strconv"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/campaign/ledger"
	"github.com/spf13/cobra"
)

// campaignRow is a campaign in the list, with what it came to.
type campaignRow struct {
	ledger.Entry
	// Findings is how many different ones there are, -1 while the campaign has not ended.
	Findings    int64 `json:"findings"`
	FindingRuns int64 `json:"finding_runs"`
	Failed      bool  `json:"failed"`
}

func (a *App) campaignsCommand() *cobra.Command {
	var r results
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "campaigns",
		Short: "List the campaigns of a results file, or compare two of them",
		Long: "Campaigns lists what a results file has, the oldest first. One whose state is running is running, or was killed: then\n" +
			"campaign --resume N goes on with it. The file is one of SQLite, with tables campaigns, stages, batches and buckets.",
		Example: fmt.Sprintf("  %s campaigns\n  %s campaigns --db nightly.db --json\n  %s campaigns compare 3 last", program, program, program),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return Usagef("campaigns knows compare and show, not %q", args[0])
			}
			return nil
		},
	}
	r.flags(cmd.PersistentFlags(), a)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		rows, err := listCampaigns(r.db)
		if err != nil {
			return err
		}
		if JSON(cmd) {
			return PrintJSON(cmd.OutOrStdout(), struct {
				Config    Configuration `json:"config"`
				Campaigns []campaignRow `json:"campaigns"`
			}{Configure(cmd, args, nil), rows})
		}
		return printCampaigns(cmd.OutOrStdout(), rows)
	}
	cmd.AddCommand(a.compareCampaignsCommand(&r), a.showCampaignCommand(&r))
	return cmd
}

func listCampaigns(file string) ([]campaignRow, error) {
	l, err := openResults(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }() // it was only read
	entries, err := l.List()
	if err != nil {
		return nil, resultsProblem(err)
	}
	rows := make([]campaignRow, len(entries))
	for i := range entries {
		rows[i] = campaignRow{Entry: entries[i], Findings: -1}
		if s := entries[i].Summary; s != nil {
			rows[i].Findings, rows[i].FindingRuns, rows[i].Failed = int64(len(s.Findings)), s.FindingRuns.Runs, s.Failed()
		}
	}
	return rows, nil
}

func printCampaigns(w io.Writer, rows []campaignRow) error {
	table := [][]string{{">id", "began (UTC)", "state", ">took", ">runs", ">findings", "", "engine", "command"}}
	for i := range rows {
		r := &rows[i]
		findings, verdict := "-", ""
		if r.Findings >= 0 {
			if findings = reports.Count(r.Findings); r.Failed {
				verdict = "RED"
			}
		}
		table = append(table, []string{strconv.FormatInt(r.ID, 10), r.Started.Format("2006-01-02 15:04:05"), string(r.State), since(r.Active),
			reports.Count(r.Runs), findings, verdict, r.Engine, r.Command})
	}
	return reports.Table(w, table)
}

func (a *App) compareCampaignsCommand(r *results) *cobra.Command {
	program := a.Catalogue.Program
	return &cobra.Command{
		Use:   "compare BEFORE AFTER",
		Short: "Tell which failures are new, ongoing and gone",
		Long: "Compare sets two campaigns of a results file side by side. A failure is a fingerprint, or a condition or hazard that was not\n" +
			"met as it should be. With each stands how often it was seen, in which limits its probability lies at 95% confidence, and,\n" +
			"where a campaign misses it, whether that may be chance. Exit code 1 for a new failure.",
		Example: fmt.Sprintf("  %s campaigns compare 3 4\n  %s campaigns compare 3 last --db nightly.db --json", program, program),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return Usagef("compare takes the numbers of two campaigns, or last, not %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := openResults(r.db)
			if err != nil {
				return err
			}
			defer func() { _ = l.Close() }() // it was only read
			var sides [2]ledger.Entry
			for i := range sides {
				if sides[i], err = endedCampaign(l, args[i]); err != nil {
					return err
				}
			}
			comparison := compareEntries(&sides[0], &sides[1])
			if JSON(cmd) {
				err = PrintJSON(cmd.OutOrStdout(), struct {
					Config     Configuration        `json:"config"`
					Comparison *campaign.Comparison `json:"comparison"`
				}{Configure(cmd, args, nil), comparison})
			} else {
				err = reports.Comparison(cmd.OutOrStdout(), comparison)
			}
			if err == nil && comparison.Count(campaign.NewFailure) > 0 {
				err = ErrFinding
			}
			return err
		},
	}
}

func (a *App) showCampaignCommand(r *results) *cobra.Command {
	program := a.Catalogue.Program
	var files campaignFiles
	cmd := &cobra.Command{
		Use:     "show CAMPAIGN",
		Short:   "Print the summary of a campaign once more",
		Example: fmt.Sprintf("  %s campaigns show last\n  %s campaigns show 3 --json", program, program),
		Args:    oneArgument("the number of a campaign, or last"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := openResults(r.db)
			if err != nil {
				return err
			}
			defer func() { _ = l.Close() }() // it was only read
			e, err := endedCampaign(l, args[0])
			if err != nil {
				return err
			}
			if JSON(cmd) {
				err := PrintJSON(cmd.OutOrStdout(), campaignDocument{Config: Configure(cmd, args, nil), Campaign: e.ID, Results: r.db, Summary: e.Summary})
				if err == nil {
					err = files.write(a, cmd, e.Summary, e.Command)
				}
				return err
			}
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "$ %s\nengine %s\n", e.Command, e.Engine); err != nil {
				return err
			}
			if err := reports.Campaign(cmd.OutOrStdout(), e.Summary); err != nil {
				return err
			}
			return files.write(a, cmd, e.Summary, e.Command)
		},
	}
	files.documents(cmd.Flags())
	return cmd
}

// endedCampaign finds a campaign that has a summary.
func endedCampaign(l *ledger.Ledger, which string) (ledger.Entry, error) {
	e, err := findCampaign(l, which)
	if err == nil && e.Summary == nil {
		err = Usagef("campaign %d has no summary yet: it is running, or was killed, and campaign --resume %d goes on with it", e.ID, e.ID)
	}
	return e, err
}
