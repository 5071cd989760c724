package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The units that a duration may carry, in microseconds.
const (
	millisecondUs = 1_000
	secondUs      = 1_000_000
)

// FormatDurationUs prints microseconds in the largest of s, ms and us that needs no leading zero: 12.5s, 20ms, 7us. The
// text is exact and ParseDurationUs reads it back.
func FormatDurationUs(us int64) string {
	sign, magnitude := "", uint64(us)
	if us < 0 {
		sign, magnitude = "-", -uint64(us)
	}
	switch {
	case magnitude == 0:
		return "0s"
	case magnitude < millisecondUs:
		return sign + strconv.FormatUint(magnitude, 10) + "us"
	case magnitude < secondUs:
		return sign + decimal(magnitude, millisecondUs, 3) + "ms"
	default:
		return sign + decimal(magnitude, secondUs, 6) + "s"
	}
}

// decimal prints magnitude/unit with as many of the digits behind the point as are not trailing zeros.
func decimal(magnitude, unit uint64, digits int) string {
	whole, part := magnitude/unit, magnitude%unit
	if part == 0 {
		return strconv.FormatUint(whole, 10)
	}
	fraction := fmt.Sprintf("%0*d", digits, part)
	return strconv.FormatUint(whole, 10) + "." + strings.TrimRight(fraction, "0")
}

// ParseDurationUs reads a decimal number with the unit us, ms, s or m, and returns whole microseconds. A value that is not
// a whole number of microseconds, or that has no unit, is an error: durations are never rounded.
func ParseDurationUs(text string) (int64, error) {
	number, negative := strings.CutPrefix(text, "-")
	unit := uint64(0)
	for _, u := range [...]struct {
		suffix string
		us     uint64
	}{{"us", 1}, {"ms", millisecondUs}, {"s", secondUs}, {"m", 60 * secondUs}} {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = rest, u.us
			break
		}
	}
	if unit == 0 {
		return 0, fmt.Errorf("%q is not a duration: write a number with a unit, as 1.5s, 20ms or 7us", text)
	}
	whole, fraction, point := strings.Cut(number, ".")
	if !digitsOnly(whole) || point && !digitsOnly(fraction) {
		return 0, fmt.Errorf("%q is not a duration: write a number with a unit, as 1.5s, 20ms or 7us", text)
	}
	us, ok := scale(whole, fraction, unit)
	if !ok {
		return 0, fmt.Errorf("%q is finer than a microsecond or longer than 64 bits hold", text)
	}
	if negative {
		return -us, nil
	}
	return us, nil
}

// scale computes whole.fraction*unit when that is a whole number within 63 bits.
func scale(whole, fraction string, unit uint64) (us int64, ok bool) {
	w, err := strconv.ParseUint(whole, 10, 64)
	if err != nil || w > math.MaxInt64/unit {
		return 0, false
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > 9 { // finer than a nanosecond of any unit
		return 0, false
	}
	part, power := uint64(0), uint64(1)
	for i := range len(fraction) {
		part = part*10 + uint64(fraction[i]-'0')
		power *= 10
	}
	if part*unit%power != 0 {
		return 0, false
	}
	total := w*unit + part*unit/power
	return int64(total), total <= math.MaxInt64
}

func digitsOnly(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
