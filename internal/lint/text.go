package lint

import (
	"path"
	"regexp"
	"sort"
	"strings"
)

// machine matches what belongs to one machine: absolute paths of somebody's files, and the hosts of module proxies,
// which are a setting of the go command and not of this tree.
var machine = regexp.MustCompile(`(^|[^\w./-])/(work|root|home/\w+|Users/\w+)/|[A-Z]:\\Users\\|(proxy|sum)\.golang\.[a-z]+`)

// Machines checks that no text of the tree, outside testdata, names a path or host of one machine.
func Machines(tree *Tree) []Problem {
	var problems []Problem
	for _, name := range tree.paths("") {
		if inTestdata(name) {
			continue
		}
		for i, line := range strings.Split(tree.Texts[name], "\n") {
			if machine.MatchString(line) {
				problems = append(problems, Problem{name, i + 1, "path or host of one machine: " + strings.TrimSpace(line)})
			}
		}
	}
	return ordered(problems)
}

var (
	markdownLink  = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)(?:\s+"[^"]*")?\)`)
	codeSpan      = regexp.MustCompile("`[^`]*`")
	notInAnchor   = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
	externalLinks = []string{"http://", "https://", "mailto:"}
)

// Markdown checks that each page has exactly one first-level heading, and that relative links lead to a file or
// directory of the tree and to a heading that exists there. It leaves out testdata and fenced code.
func Markdown(tree *Tree) []Problem {
	var problems []Problem
	for _, name := range tree.paths(".md") {
		if inTestdata(name) {
			continue
		}
		titles := 0
		prose(tree.Texts[name], func(number int, line string) {
			if strings.HasPrefix(line, "# ") {
				titles++
			}
			for _, match := range markdownLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
				if message := tree.brokenLink(name, match[1]); message != "" {
					problems = append(problems, Problem{name, number, message})
				}
			}
		})
		if titles != 1 {
			problems = append(problems, Problem{File: name, Message: "a page has exactly one first-level heading"})
		}
	}
	return ordered(problems)
}

// prose calls f with each line that is not part of fenced code.
func prose(text string, f func(number int, line string)) {
	fence := ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"):
			fence = "```"
		case strings.HasPrefix(trimmed, "~~~"):
			fence = "~~~"
		default:
			f(i+1, line)
		}
	}
}

func (t *Tree) brokenLink(page, target string) string {
	for _, prefix := range externalLinks {
		if strings.HasPrefix(target, prefix) {
			return ""
		}
	}
	file, anchor, _ := strings.Cut(target, "#")
	name := page
	if file != "" {
		name = path.Join(path.Dir(page), file)
	}
	if !t.exist[name] {
		return "link to " + target + ", which does not exist"
	}
	if anchor != "" && strings.HasSuffix(name, ".md") && !hasAnchor(t.Texts[name], anchor) {
		return "link to " + target + ": no such heading"
	}
	return ""
}

// hasAnchor reports whether a heading of the page has this anchor: lower case, spaces to dashes, no punctuation.
func hasAnchor(text, anchor string) bool {
	var anchors []string
	prose(text, func(_ int, line string) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			slug := notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			anchors = append(anchors, strings.ReplaceAll(slug, " ", "-"))
		}
	})
	sort.Strings(anchors)
	i := sort.SearchStrings(anchors, anchor)
	return i < len(anchors) && anchors[i] == anchor
}
