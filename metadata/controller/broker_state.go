package controller

import "math"

// brokerState is where a broker stands in its life, as the active controller has it.
type brokerState uint8

const (
	stateFenced brokerState = iota
	stateUnfenced
	stateControlledShutdown
	stateShutdownNow
)

// isFenced tells what a broker in that state is told.
func (s brokerState) isFenced() bool { return s == stateFenced || s == stateShutdownNow }

// noActiveBroker is the lowest metadata offset of no broker at all: nothing is left to wait for.
const noActiveBroker int64 = math.MaxInt64

// standing is what the next state of a broker depends on.
type standing struct {
	current        brokerState
	registeredAt   int64 // offset of its RegisterBrokerRecord
	shutdownOffset int64 // of the write by which it entered controlled shutdown
	lowestActive   int64 // metadata offset of the slowest active broker
	leads          bool  // it leads some partition
}

// next is the state table of metadata-bootstrap 7.5.
func (s *standing) next(h *BrokerHeartbeat) brokerState {
	switch s.current {
	case stateFenced:
		switch {
		case h.WantShutDown:
			return stateShutdownNow
		case !h.WantFence && h.CurrentMetadataOffset >= s.registeredAt:
			return stateUnfenced
		}
		return stateFenced
	case stateUnfenced:
		switch {
		case h.WantFence && h.WantShutDown:
			return stateShutdownNow
		case h.WantFence:
			return stateFenced
		case h.WantShutDown && s.leads:
			return stateControlledShutdown
		case h.WantShutDown:
			return stateShutdownNow
		}
		return stateUnfenced
	}
	// All others have to know that it leads nothing any more before it may go.
	if s.leads || s.shutdownOffset > s.lowestActive {
		return stateControlledShutdown
	}
	return stateShutdownNow
}
