//go:build analysistest

package nodet

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// TestAnalysis runs the cases with analysistest, whose modules only tools.mod pins:
//
//	go test -modfile=tools.mod -tags analysistest ./internal/nodet
func TestAnalysis(t *testing.T) {
	useTestRooms(t)
	analysistest.Run(t, analysistest.TestData(), Analyzer, casePackages...)
}
