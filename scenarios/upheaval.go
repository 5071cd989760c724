//nodet:room

package scenarios

// upheavalScenarios lists them.
func upheavalScenarios() []*scenario { return nil }
