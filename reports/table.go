package reports

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Table writes rows in aligned columns, two spaces apart. Cells of a column stand to the right when its header starts with
// ">"; the sign is not printed. The first row is the header.
func Table(w io.Writer, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	header := make([]string, len(rows[0]))
	right := make([]bool, len(header))
	widths := make([]int, len(header))
	for i, cell := range rows[0] {
		header[i], right[i] = strings.CutPrefix(cell, ">")
	}
	all := append([][]string{header}, rows[1:]...)
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			padding := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if right[i] {
				line.WriteString(padding + cell)
			} else {
				line.WriteString(cell + padding)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Count prints a number with a comma between thousands: 1,234,567.
func Count(n int64) string {
	text := ""
	if n < 0 {
		return "-" + Count(-n)
	}
	for n >= 1000 {
		text = "," + pad(n%1000) + text
		n /= 1000
	}
	return itoa(n) + text
}
