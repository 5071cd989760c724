package decide

// Do NOT edit: stored capsules depend on these values.
var (
	regressValues = []int64{7568411, 195751064, 1073045523}
	regressFold   = uint64(0xaf88bef83824dbde)
)
