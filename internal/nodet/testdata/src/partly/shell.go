package partly

func outside(f func()) {
	go f()
	//nodet:allow maprange a directive outside the rooms is not looked at
}
