package plan

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns at most n of the known names that somebody who typed the wrong one may have meant: those that begin as it
// does first, then by the number of letters to change, then in the order given. Cost: the product of the lengths, for each name.
func Nearest(wrong string, known []string, n int) []string {
	distance := make(map[string]int, len(known))
	for _, name := range known {
		distance[name] = editDistance(wrong, name)
		if wrong != "" && strings.HasPrefix(name, wrong) {
			distance[name] = 0
		}
	}
	list := slices.Clone(known)
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(distance[a], distance[b]) })
	return list[:min(n, len(list))]
}

// editDistance counts the letters to insert, delete or replace between two texts.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
