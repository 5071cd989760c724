//nodet:room

package scenarios

// casesOfClusters are the cases of two clusters in one network.
func casesOfClusters() []kipCase { return nil }
