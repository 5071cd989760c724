package vdisk

// Heal ends all faults of the volume at once and gives it another cost model: the calm after a storm. What was damaged or
// lost before stays so.
func (v *Volume) Heal(m Model) {
	v.model = m
	v.rules = v.rules[:0]
	v.stuck, v.strays, v.readOnly = nil, nil, false
	v.slow = Slow{}
	v.capacity = -1
	v.armedAt, v.armedOp = 0, NoOp
}
