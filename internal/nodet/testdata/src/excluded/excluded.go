// Package excluded is no room: nothing in it is refused.
package excluded

import "time"

var Count int

func Clock(m map[string]float64) time.Time {
	for k := range m {
		delete(m, k)
	}
	Count++
	return time.Now()
}
