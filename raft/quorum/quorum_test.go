package quorum

import "testing"

// forEachVector calls f with every vector of n digits below base.
func forEachVector(n, base int, f func(v []int64)) {
	v := make([]int64, n)
	for {
		f(v)
		i := 0
		for ; i < n; i++ {
			v[i]++
			if v[i] < int64(base) {
				break
			}
			v[i] = 0
		}
		if i == n {
			return
		}
	}
}

func TestTwoMajoritiesShareAVoter(t *testing.T) {
	for n := int32(1); n <= 9; n++ {
		for a := uint32(0); a < 1<<n; a++ {
			for b := uint32(0); b < 1<<n; b++ {
				if ones(a) >= Majority(n) && ones(b) >= Majority(n) && a&b == 0 {
					t.Fatalf("n=%d: %b and %b are disjoint majorities", n, a, b)
				}
			}
		}
		if 2*(Majority(n)-1) > n {
			t.Fatalf("n=%d: majority %d is larger than it must be", n, Majority(n))
		}
	}
}

func ones(v uint32) (n int32) {
	for ; v != 0; v &= v - 1 {
		n++
	}
	return n
}

func TestCommittedOffsetIsTheLargestThatAMajorityHolds(t *testing.T) {
	for n := 1; n <= 7; n++ {
		base := 5
		if n > 5 {
			base = 4
		}
		forEachVector(n, base, func(digits []int64) {
			ends := make([]int64, n)
			for i, d := range digits {
				ends[i] = d - 1 // -1 is Unknown
			}
			want := Unknown
			for o := int64(0); o < int64(base); o++ {
				holders := int32(0)
				for _, end := range ends {
					if end >= o {
						holders++
					}
				}
				if holders >= Majority(int32(n)) {
					want = o
				}
			}
			if got := CommittedOffset(append([]int64(nil), ends...)); got != want {
				t.Fatalf("%v: got %d want %d", ends, got, want)
			}
		})
	}
	if got := CommittedOffset(nil); got != Unknown {
		t.Fatalf("no voters: %d", got)
	}
}

func TestOutcomeIsDecidedExactlyWhenNoAnswerCanChangeIt(t *testing.T) {
	for n := int32(1); n <= 9; n++ {
		for granted := int32(0); granted <= n; granted++ {
			for rejected := int32(0); granted+rejected <= n; rejected++ {
				best := granted + (n - granted - rejected)
				want := Undecided
				switch {
				case granted >= Majority(n):
					want = Won
				case best < Majority(n):
					want = Lost
				}
				if got := Outcome(granted, rejected, n); got != want {
					t.Errorf("Outcome(%d,%d,%d) = %v want %v", granted, rejected, n, got, want)
				}
			}
		}
	}
	if Won.String()+Lost.String()+Undecided.String() != "wonlostundecided" {
		t.Error("names of results")
	}
}

func TestFetchersNeededTogetherWithTheLeaderAreAMajority(t *testing.T) {
	for n := int32(1); n <= 9; n++ {
		if got := FetchersNeeded(n, true) + 1; got != Majority(n) {
			t.Errorf("n=%d leader in the set: %d", n, got)
		}
		if got := FetchersNeeded(n, false); got != Majority(n) {
			t.Errorf("n=%d leader outside: %d", n, got)
		}
	}
}

func TestUpToDateIsATotalOrder(t *testing.T) {
	for a := int64(0); a < 16; a++ {
		for b := int64(0); b < 16; b++ {
			ab := UpToDate(int32(a/4), a%4, int32(b/4), b%4)
			if ab != (a >= b) {
				t.Errorf("(%d,%d) against (%d,%d): %v", a/4, a%4, b/4, b%4, ab)
			}
		}
	}
}

func TestSuccessorBackoff(t *testing.T) {
	for _, c := range []struct {
		p, n  int32
		maxMs int64
		want  int64
	}{
		{0, 0, 1000, 0}, {3, 0, 1000, 0}, // an empty list: everybody at once
		{0, 3, 1000, 0},
		{1, 3, 1000, 250}, {2, 3, 1000, 500}, {3, 3, 1000, 1000}, {9, 3, 1000, 1000},
		{1, 2, 1000, 500},
		{1, 1, 1000, 1000}, {3, 3, 1003, 1003}, {7, 3, 1003, 1003},
		{1, 3, 0, 0},
		{80, 90, 1000, 0}, {90, 90, 1000, 1000},
	} {
		if got := SuccessorBackoffMs(c.p, c.n, c.maxMs); got != c.want {
			t.Errorf("SuccessorBackoffMs(%d,%d,%d) = %d want %d", c.p, c.n, c.maxMs, got, c.want)
		}
	}
	for n := int32(1); n < 70; n++ {
		last := int64(0)
		for p := int32(0); p <= n; p++ {
			got := SuccessorBackoffMs(p, n, 1<<40)
			if got < last || got > 1<<40 {
				t.Fatalf("n=%d p=%d: %d after %d", n, p, got, last)
			}
			last = got
		}
	}
}
