package reports

import (
	"fmt"
	"strconv"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// pad prints three digits.
func pad(n int64) string { return fmt.Sprintf("%03d", n) }

// seconds prints microseconds of virtual time as seconds with one digit behind the point.
func seconds(us int64) string { return fmt.Sprintf("%d.%d", us/1_000_000, us%1_000_000/100_000) }

// clock prints microseconds of virtual time as seconds with all digits.
func clock(us int64) string { return fmt.Sprintf("%d.%06d", us/1_000_000, us%1_000_000) }

// Plural prints a count with its noun.
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}
