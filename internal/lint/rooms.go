package lint

import (
	"slices"
	"strconv"
	"strings"
)

// seamsPage has the table of rooms.
const seamsPage = "docs/seams.md"

// row is one row of the table: rooms, and what they may import of this module. A name that ends in "/..." stands for the
// whole tree below, the name before it included.
type row struct {
	rooms, imports []string
	above          bool // imports every room of the rows above
	line           int
	used           map[string]bool // entries of imports
	met            bool            // some package belongs to it
}

// Rooms checks the table of docs/seams.md against the sources, tests left out: each package has a row, a package imports of
// this module only what its row names, and no row names a room or an import that is not there.
func Rooms(tree *Tree) []Problem {
	text, ok := tree.Texts[seamsPage]
	if !ok {
		return nil
	}
	rows := roomTable(text)
	var problems []Problem
	missing := map[string]bool{}
	for _, file := range tree.Go {
		if file.Test || file.Dir() == "." {
			continue
		}
		at := rowOf(rows, file.Dir())
		if at < 0 {
			if !missing[file.Dir()] {
				problems = append(problems, Problem{File: file.Dir(), Message: "no row in the table of rooms of " + seamsPage})
			}
			missing[file.Dir()] = true
			continue
		}
		rows[at].met = true
		for _, spec := range file.Syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			room, ours := strings.CutPrefix(imported, modulePath+"/")
			if err == nil && ours && !allowed(rows, at, room) {
				problems = append(problems, Problem{file.Path, tree.line(spec.Pos()),
					"import of " + room + ", which its row in " + seamsPage + " does not name"})
			}
		}
	}
	for i := range rows {
		problems = append(problems, rows[i].idle()...)
	}
	return ordered(problems)
}

// idle says what of a row the sources do not have.
func (r *row) idle() []Problem {
	if !r.met {
		return []Problem{{seamsPage, r.line, "no package is a room of this row"}}
	}
	var problems []Problem
	for _, name := range r.imports {
		if !r.used[name] {
			problems = append(problems, Problem{seamsPage, r.line, "no room of this row imports " + name})
		}
	}
	return problems
}

// roomTable reads the rows under the header "| room | imports | gives |". Names stand in code spans.
func roomTable(text string) []row {
	var rows []row
	inside := false
	for i, line := range strings.Split(text, "\n") {
		cells := strings.Split(line, "|")
		switch {
		case len(cells) != 5:
			inside = false
		case strings.TrimSpace(cells[1]) == "room" && strings.TrimSpace(cells[2]) == "imports":
			inside = true
		case inside && !strings.Contains(cells[1], "---"):
			rows = append(rows, row{rooms: spans(cells[1]), imports: spans(cells[2]), line: i + 1, used: map[string]bool{},
				above: strings.Contains(cells[2], "everything above")})
		}
	}
	return rows
}

// spans returns the texts of the code spans of a cell.
func spans(cell string) (names []string) {
	for _, span := range codeSpan.FindAllString(cell, -1) {
		names = append(names, strings.Trim(span, "`"))
	}
	return names
}

// covers reports whether a name of the table stands for a package.
func covers(name, pkg string) bool {
	if root, tree := strings.CutSuffix(name, "/..."); tree {
		return within(pkg, root)
	}
	return name == pkg
}

// rowOf returns the index of the row of a package, -1 for none: one that names it, else the first whose tree has it.
func rowOf(rows []row, pkg string) int {
	for i := range rows {
		if slices.Contains(rows[i].rooms, pkg) {
			return i
		}
	}
	return slices.IndexFunc(rows, func(r row) bool {
		return slices.ContainsFunc(r.rooms, func(name string) bool { return covers(name, pkg) })
	})
}

// allowed reports whether the row at an index names the import, and notes that it is used.
func allowed(rows []row, at int, room string) bool {
	if rows[at].above && rowOf(rows, room) < at && rowOf(rows, room) >= 0 {
		return true
	}
	found := false
	for _, name := range rows[at].imports {
		if covers(name, room) {
			rows[at].used[name], found = true, true
		}
	}
	return found
}
