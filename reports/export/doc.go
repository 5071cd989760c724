// Package export writes a history for viewers that others made: ShiViz, which draws the happened-before order of a distributed log, and
// the trace format of Chromium, which chrome://tracing and Perfetto read.
//
//	err := export.ShiViz(w, h)
//	err := export.ChromeTrace(w, h)
//
// Both are functions of the history alone: same history, same bytes. Neither viewer knows what a log, a vote or a necessary fault is; the
// page of package page does. What they give is what people know already: queries over slices (Perfetto), and the order without times
// (ShiViz).
//
// Refused: OpenTelemetry spans (a handler is no request, and a run has no root), and DOT (a graph of 10,000 nodes is no picture).
package export
