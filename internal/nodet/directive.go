package nodet

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

const (
	allowPrefix = "//nodet:allow"
	roomComment = "//nodet:room"
	anyPrefix   = "//nodet:"
)

// allowance is one //nodet:allow comment. An allowance with a fault lifts nothing.
type allowance struct {
	at    token.Pos
	line  int
	rule  string
	fault string
	used  bool
}

// directives holds what the comments of one file say to this analyzer.
type directives struct {
	allowances []allowance
	unknown    []token.Pos
	idle       []token.Pos // room comments in a package that is a room as a whole
}

// parseDirectives reads the comments of a file; wholePackage says that its package is a room without them.
func parseDirectives(fset *token.FileSet, file *ast.File, wholePackage bool) *directives {
	d := &directives{}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			text := alone(comment.Text)
			switch {
			case !strings.HasPrefix(text, anyPrefix):
			case text == roomComment && comment.Pos() < file.Package:
				if wholePackage {
					d.idle = append(d.idle, comment.Pos())
				}
			case text == allowPrefix || strings.HasPrefix(text, allowPrefix+" "):
				a := parseAllowance(text)
				a.at, a.line = comment.Pos(), fset.Position(comment.Pos()).Line
				d.allowances = append(d.allowances, a)
			default:
				d.unknown = append(d.unknown, comment.Pos())
			}
		}
	}
	return d
}

// alone returns a comment without a second one on its line, such as the "// want" of a test.
func alone(comment string) string {
	if at := strings.Index(comment[2:], "//"); at >= 0 {
		comment = comment[:2+at]
	}
	return strings.TrimSpace(comment)
}

func parseAllowance(text string) allowance {
	words := strings.Fields(strings.TrimPrefix(text, allowPrefix))
	switch {
	case len(words) == 0:
		return allowance{fault: "an allow directive names a rule and a reason"}
	case !slices.Contains(liftable, words[0]):
		return allowance{fault: "an allow directive names the unknown rule " + words[0]}
	case len(words) == 1:
		return allowance{fault: "an allow directive for " + words[0] + " gives no reason"}
	}
	return allowance{rule: words[0]}
}

// lifts reports whether rule is lifted at line, by a directive there or on the line above.
func (d *directives) lifts(line int, rule string) bool {
	lifted := false
	for i := range d.allowances {
		a := &d.allowances[i]
		if a.rule == rule && (a.line == line || a.line == line-1) {
			a.used, lifted = true, true
		}
	}
	return lifted
}

// complain reports every directive that is wrong or that lifted nothing. To be called after the file was walked.
func (d *directives) complain(report func(at token.Pos, message string)) {
	for _, at := range d.unknown {
		report(at, "unknown or misplaced nodet directive")
	}
	for _, at := range d.idle {
		report(at, "the whole package is a room, so this directive does nothing")
	}
	for _, a := range d.allowances {
		switch {
		case a.fault != "":
			report(a.at, a.fault)
		case !a.used:
			report(a.at, "an allow directive for "+a.rule+" lifts nothing")
		}
	}
}

// isRoomFile reports whether a comment above the package clause puts the file into a room.
func isRoomFile(file *ast.File) bool {
	for _, group := range file.Comments {
		if group.Pos() >= file.Package {
			break
		}
		for _, comment := range group.List {
			if alone(comment.Text) == roomComment {
				return true
			}
		}
	}
	return false
}
