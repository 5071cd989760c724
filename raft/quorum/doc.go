// Package quorum is the arithmetic of majorities: how many voters must agree, which offset a majority
// holds, whether an election can still be won, and how long a preferred successor waits.
//
// The replica keeps no arithmetic of its own. Each function here is pure, small enough to be tested over its
// whole domain up to nine voters, and says which rule of KRaft it is (KIP-595, KIP-853).
//
//	quorum.Majority(3)                             // 2
//	quorum.CommittedOffset([]int64{7, -1, 9})      // 7: two of three hold everything below 7
//	quorum.Outcome(1, 1, 3)                        // Undecided
//
// Guarantees: any two majorities of one set share a voter; CommittedOffset never exceeds what a majority holds;
// Outcome is Won or Lost exactly when no answer still missing could change it.
//
// Refused: weights and joint consensus (KRaft changes one voter at a time, so majorities of neighbouring sets
// overlap by themselves), and generic comparison callbacks (the only ordered thing here is an offset).
package quorum
