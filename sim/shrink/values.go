package shrink

// values takes models and clocks back to what is benign, a kind at a time and then one by one, and rounds what has to stay.
func (s *search) values() {
	for _, kind := range []string{RatePart, ClockPart} {
		candidate := s.best.Clone()
		for _, f := range modelFields(candidate) {
			if f.kind == kind {
				f.clear()
			}
		}
		if s.try(candidate) {
			continue
		}
		for _, part := range Parts(s.best) {
			if part.Kind != kind {
				continue
			}
			if candidate, ok := Without(s.best, &part); ok {
				s.try(candidate)
			}
		}
	}
	s.roundValues()
}

// roundValues leaves one digit of each value: all at once, or one by one.
func (s *search) roundValues() {
	candidate := s.best.Clone()
	for _, f := range modelFields(candidate) {
		f.round()
	}
	if s.try(candidate) {
		return
	}
	for i := range modelFields(s.best) {
		candidate := s.best.Clone()
		if list := modelFields(candidate); i < len(list) {
			list[i].round()
			s.try(candidate)
		}
	}
}

// round sets the nearest value of one digit. What is no number stays.
func (f *field) round() {
	v, ok := f.whole()
	if !ok {
		return
	}
	sign := int64(1)
	if v < 0 {
		sign, v = -1, -v
	}
	grain := int64(1)
	for v/grain >= 10 {
		grain *= 10
	}
	f.value.SetInt(sign * nearest(v, grain))
}
