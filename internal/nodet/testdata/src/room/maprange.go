package room

import (
	"maps"
	"reflect"
	"slices"
	"sort"
)

func ranges(m map[int32]string, sum int64) []int32 {
	for k := range m { // want `\[maprange\] range over a map`
		sum += int64(k)
	}
	var unsorted []int32
	for k := range m { // want `\[maprange\] range over a map`
		unsorted = append(unsorted, k)
	}
	var late []int32
	for k := range m { // want `\[maprange\] range over a map`
		late = append(late, k)
	}
	sum++
	slices.Sort(late)
	var other []int32
	for k := range m { // want `\[maprange\] range over a map`
		other = append(other, k)
	}
	slices.Sort(late)
	var called []int32
	for k := range m { // want `\[maprange\] range over a map`
		called = append(called, next(k))
	}
	slices.Sort(called)
	for k := range maps.Keys(m) { // want `\[maprange\] maps.Keys: `
		sum += int64(k)
	}
	var compared []string
	for _, v := range m { // want `\[maprange\] range over a map`
		compared = append(compared, v)
	}
	slices.SortStableFunc(compared, func(a, b string) int { return len(a) - len(b) }) // of equal length: as the map had them
	_ = slices.SortedStableFunc(maps.Keys(m), func(a, b int32) int { return 0 })      // want `\[maprange\] maps.Keys: `
	maps.DeleteFunc(m, func(int32, string) bool { sum++; return sum > 2 })            // want `\[maprange\] maps.DeleteFunc: `
	for range reflect.ValueOf(m).Seq() {                                              // want `\[maprange\] reflect.Seq: `
	}
	return slices.Collect(maps.Keys(m)) // want `\[maprange\] maps.Keys: `
}

func next(k int32) int32 { return k + 1 }

func generic[M ~map[int32]V, V any](m M) (n int64) {
	for range m { // want `\[maprange\] range over a map`
		n++
	}
	return n
}

type page struct{ names []string }

func sortedRanges(m map[int32]string, p *page) []int32 {
	keys := make([]int32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for k, v := range m {
		if k > 3 && len(v) > 0 {
			p.names = append(p.names, v)
		}
	}
	sort.Strings(p.names)
	switch {
	case len(keys) > 0:
		var wide []int64
		for k := range m {
			wide = append(wide, int64(k))
		}
		slices.Sort(wide)
	}
	for range keys {
	}
	return slices.Sorted(maps.Keys(m))
}
