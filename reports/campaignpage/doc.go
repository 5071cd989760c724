// Package campaignpage writes what a campaign came to as one HTML file: findings with the shortest plan of each, the scenarios, what their
// seeds covered and how much the last of them still brought, the faults that fired, conditions, hazards and invariants.
//
//	err := campaignpage.Write(w, &campaignpage.Page{Summary: s, Command: "simrun campaign --seeds 50000"})
//
// The page is a function of the summary: no script, no request, nothing measured here. Capsules and pages of failures are links when Link
// makes one of their names, so that a folder with all of them can be moved as a whole.
//
// Package reports prints the same for terminals.
//
// Refused: charts of a library (bars of a table are enough), a live page (the bars of a running campaign are on the terminal).
package campaignpage
