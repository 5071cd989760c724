package nodet

import "strings"

// Module is the path of the module whose packages the room list speaks about.
const Module = "github.com/kraftsim/kraftsim"

// room is one entry of the room list: a package path below the module and whether everything below it belongs too.
type room struct {
	path string
	tree bool
}

// rooms is the one place that says which packages are deterministic.
var rooms = []room{
	{path: "sim"},
	{path: "sim/decide"},
	{path: "sim/vnet"},
	{path: "sim/vdisk"},
	{path: "sim/check"},
	{path: "sim/digest"},
	{path: "sim/plan"},
	{path: "sim/swarm"},
	{path: "sim/history"},
	{path: "sim/shrink"},
	{path: "raft", tree: true},
	{path: "metadata", tree: true},
	{path: "invariants", tree: true},
	{path: "scenarios"},
	{path: "reports/story"},
}

// outside lists the packages below a tree room that touch the real world by design, or serve tests only.
var outside = []string{
	"raft/internal/golden", // golden files for tests
	"metadata/osfiles",     // the Files method set on the operating system, for production and simrun format
	"metadata/recordjson",  // JSON as Kafka prints it, with float64 formatting, for people and tools
}

// IsRoom reports whether the package with this import path is a deterministic room as a whole. Test variants of a
// package ("p [p.test]", "p_test") are not, nor are packages whose name ends in test, as in net/http/httptest.
func IsRoom(importPath string) bool {
	rel, found := strings.CutPrefix(importPath, Module+"/")
	if !found || strings.Contains(rel, " ") || strings.HasSuffix(rel, "test") {
		return false
	}
	for _, path := range outside {
		if rel == path || strings.HasPrefix(rel, path+"/") {
			return false
		}
	}
	for _, r := range rooms {
		if rel == r.path || r.tree && strings.HasPrefix(rel, r.path+"/") {
			return true
		}
	}
	return false
}

// matches reports whether importPath is one of the comma separated patterns, each a path or a tree ending in "/...".
func matches(patterns, importPath string) bool {
	for pattern := range strings.SplitSeq(patterns, ",") {
		if root, tree := strings.CutSuffix(pattern, "/..."); tree {
			if importPath == root || strings.HasPrefix(importPath, root+"/") {
				return true
			}
		}
		if pattern == importPath {
			return true
		}
	}
	return false
}
