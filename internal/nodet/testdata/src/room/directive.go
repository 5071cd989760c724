//nodet:room // want `\[directive\] the whole package is a room`

package room

func directives(m map[int32]int64) (sum int64) {
	//nodet:allow maprange addition commutes
	for _, v := range m {
		sum += v
	}
	for _, v := range m { //nodet:allow maprange addition commutes
		sum += v
	}
	//nodet:allow maprange // want `\[directive\] an allow directive for maprange gives no reason`
	for _, v := range m { // want `\[maprange\] range over a map`
		sum += v
	}
	//nodet:allow // want `\[directive\] an allow directive names a rule and a reason`
	//nodet:allow everything it is fine // want `\[directive\] an allow directive names the unknown rule everything`
	//nodet:allow float the wrong rule // want `\[directive\] an allow directive for float lifts nothing`
	for _, v := range m { // want `\[maprange\] range over a map`
		sum += v
	}
	//nodet:forgive maprange please // want `\[directive\] unknown or misplaced nodet directive`
	//nodet:room // want `\[directive\] unknown or misplaced nodet directive`
	return sum
}
