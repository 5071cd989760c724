package scenarios

import "slices"

// overtaken are the numbers of the newest Fetches of former processes of the sender that had no answer when the next process asked: numbers
// begin anew with a process, and an answer that has one of these may be to either.
type overtaken [4]int32

// by returns the list for the Fetch that comes behind another one.
func (a *askedFetch) by(peerBoot int32) overtaken {
	list := a.leftOver
	if a.open && a.peerBoot != peerBoot {
		copy(list[1:], list[:])
		list[0] = a.correlation + 1 // 0: none
	}
	return list
}

// has tells whether an answer may be to such a Fetch.
func (l *overtaken) has(correlation int32) bool { return slices.Contains(l[:], correlation+1) }
