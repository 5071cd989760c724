package room

import (
	"cmp"
	"slices"
	"sort"
)

type byLength []string

func (b byLength) Len() int           { return len(b) }
func (b byLength) Less(i, j int) bool { return len(b[i]) < len(b[j]) }
func (b byLength) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

func sorts(s []string) {
	sort.Sort(byLength(s))                                                 // want `\[sort\] sort.Sort: unstable`
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })              // want `\[sort\] sort.Slice: unstable`
	slices.SortFunc(s, func(a, b string) int { return cmp.Compare(a, b) }) // want `\[sort\] slices.SortFunc: unstable`

	sort.Stable(byLength(s))
	sort.SliceStable(s, func(i, j int) bool { return s[i] < s[j] })
	slices.SortStableFunc(s, func(a, b string) int { return cmp.Compare(a, b) })
	slices.Sort(s)
	sort.Strings(s)
}
