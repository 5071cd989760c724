package campaign

import "time"

// The measures of a campaign.
const (
	pilotRuns  = 20                     // of each scenario, to learn what it costs
	batchTime  = 400 * time.Millisecond // of one request
	batchLimit = 500                    // runs of one request
)

// evenly splits n runs over the scenarios; the first ones take what is left over.
func evenly(n int64, scenarios int) []int64 {
	counts := make([]int64, scenarios)
	for i := range counts {
		counts[i] = n / int64(scenarios)
		if int64(i) < n%int64(scenarios) {
			counts[i]++
		}
	}
	return counts
}

// byCost splits at least total runs so that each scenario gets about the same time: shares are inverse to the cost of a run in
// nanoseconds, and at least least.
func byCost(total, least int64, costs []int64) []int64 {
	weights := 0.0
	for _, c := range costs {
		weights += 1 / float64(max(c, 1))
	}
	counts := make([]int64, len(costs))
	for i, c := range costs {
		counts[i] = max(least, int64(float64(total)/(float64(max(c, 1))*weights))+1)
	}
	return counts
}

// lane is the progress of one scenario: seeds from next up to end are still to be run.
type lane struct {
	scenario  string
	next, end uint64
	batch     int64 // runs of one request
}

// interleave cuts the lanes into requests, one from each in turn, so that all bars move.
func interleave(lanes []lane) (requests []request) {
	for more := true; more; {
		more = false
		for i := range lanes {
			l := &lanes[i]
			n := min(int64(l.end-l.next), l.batch)
			if n <= 0 {
				continue
			}
			more = true
			requests = append(requests, request{Do: doBatch, Scenario: l.scenario, First: l.next, Count: n})
			l.next += uint64(n)
		}
	}
	return requests
}

// batchRuns is how many runs of the given cost make a request.
func batchRuns(costNs int64) int64 {
	return min(max(batchTime.Nanoseconds()/max(costNs, 1), 1), batchLimit)
}
