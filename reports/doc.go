// Package reports turns verdicts, traces, plans and campaign summaries into text and JSON.
//
// Everything here is a function of data to text: nothing is measured, run or decided. Text goes to people and may change;
// the JSON structures are for programs and only grow. The package knows no protocol; what a message says reaches it as the
// text of a trace line.
//
//	reports.Verdict(os.Stdout, verdict)
//
// A trace line has these columns:
//
//	event <cause time host/lane#boot what text
//
// The id of the event, the id of the event that caused it (- for the plan), virtual time in seconds, where it happened with
// the incarnation of the process, what kind of line it is, and what the scenario says about it. A line without a host is the
// world's own.
//
// Refused: colours. The text is read in logs more often than in terminals.
package reports
