package nodet

import (
	"go/parser"
	"go/token"
	"strings"
)

// Covers reports whether the analyzer would look at anything in a package: it is a room as a whole (of the built-in list, or
// of rooms, the value of the flag -rooms, when that is not empty), or one of its files says that it is one. name is the
// package's name, files are its Go files; one that can't be read or parsed counts as none.
func Covers(rooms, importPath, name string, files []string) bool {
	if name == "main" {
		return false
	}
	if rooms == "" && IsRoom(importPath) || rooms != "" && matches(rooms, importPath) {
		return true
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err == nil && isRoomFile(parsed) {
			return true
		}
	}
	return false
}
