// Package page writes a failure as one HTML file that needs nothing else: no server, no network, no second file.
//
// Somebody opens it in the morning after a red campaign. It holds the story, what the failure needs (each fault with whether the run
// passes without it), the command that runs it again, and the whole run: a timeline with one lane a host, messages as arrows, and for any event
// the state of every node and the records of every log as they were then.
//
//	p := &page.Page{History: h, Story: lines, Parts: parts, Command: "simrun replay capsules/x.json"}
//	err := page.Write(w, p)
//
// # What is in the file
//
// The text that explains (story, parts, plan, command) is HTML and is there without a script. The history is one compressed JSON
// document of columns: numbers in arrays by event, texts once each in a table. The script turns the columns into typed arrays, and
// what is true at an event (facets, log entries) into intervals, so that going anywhere costs a binary search and never a walk from
// the start. It draws on a canvas, and only what is in view: single events where they are far enough apart, else how many there are.
//
// # Guarantees
//
// The same Page gives the same bytes on one version of Go. A page of 100,000 events takes a few megabytes and a second to open, and a step takes less
// than 50 ms. A policy in the page forbids any request. All texts go through html/template or are set as text, so that no name in a
// plan can become markup.
//
// # Refused
//
// A framework (the page must open in ten years' time), an SVG timeline (a node per event is slow above some thousand), a trace
// viewer of somebody else's (see package reports for exports to those; none of them knows what a log or a necessary fault is), a server.
package page
