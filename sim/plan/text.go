package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// FormatAction prints an action as one line that ParseAction reads back to the same action:
//
//	12.5s cut from=n1 to=n2,n3 #a4
//
// Time since the start of the run, kind, parameters in the order in which the kind declares them (others follow in
// alphabetical order), then the id after a hash sign. A value that is not a plain word stands in Go quotes. A nil registry
// is allowed.
func (r *Registry) FormatAction(a *Action) string {
	var b strings.Builder
	b.WriteString(FormatDurationUs(int64(a.AtUs)))
	b.WriteByte(' ')
	b.WriteString(a.Kind)
	for _, name := range r.parameterOrder(a) {
		b.WriteByte(' ')
		b.WriteString(name)
		b.WriteByte('=')
		if value := a.Params[name]; plainWord(value) {
			b.WriteString(value)
		} else {
			b.WriteString(strconv.Quote(value))
		}
	}
	if a.ID != "" {
		b.WriteString(" #")
		b.WriteString(a.ID)
	}
	return b.String()
}

func (r *Registry) parameterOrder(a *Action) []string {
	ordered := make([]string, 0, len(a.Params))
	if r != nil {
		if k := r.Action(a.Kind); k != nil {
			for _, f := range k.Fields {
				if _, ok := a.Params[f.Name]; ok {
					ordered = append(ordered, f.Name)
				}
			}
		}
	}
	declared := len(ordered)
	for _, name := range slices.Sorted(maps.Keys(a.Params)) {
		if !slices.Contains(ordered[:declared], name) {
			ordered = append(ordered, name)
		}
	}
	return ordered
}

// ParseAction reads the line that FormatAction prints. The id may be missing: the caller gives one. With a registry the
// kind and its parameters are checked, without one (nil receiver) only the form is.
func (r *Registry) ParseAction(line string) (Action, error) {
	words, err := splitWords(line)
	if err != nil {
		return Action{}, textError(line, err.Error())
	}
	if len(words) < 2 {
		return Action{}, textError(line, "an action is a time, a kind and name=value pairs, as 12.5s cut from=n1 to=n2")
	}
	at, err := ParseDurationUs(words[0])
	if err != nil {
		return Action{}, textError(line, err.Error())
	}
	a := Action{AtUs: Int64(at), Kind: words[1]}
	if !identifier(a.Kind) {
		return Action{}, textError(line, fmt.Sprintf("%q is not the name of a kind", a.Kind))
	}
	for i, word := range words[2:] {
		if id, ok := strings.CutPrefix(word, "#"); ok && i == len(words)-3 {
			if !identifier(id) {
				return Action{}, textError(line, fmt.Sprintf("%q is not an id", id))
			}
			a.ID = id
			break
		}
		if err := a.addParameter(word); err != nil {
			return Action{}, textError(line, err.Error())
		}
	}
	if r != nil {
		if err := r.checkAction("", &a, nil); err != nil {
			return Action{}, textError(line, err.Error())
		}
	}
	return a, nil
}

func (a *Action) addParameter(word string) error {
	name, value, ok := strings.Cut(word, "=")
	if !ok || !identifier(name) {
		return fmt.Errorf("%q is not name=value", word)
	}
	if strings.HasPrefix(value, `"`) {
		text, err := strconv.Unquote(value)
		if err != nil {
			return fmt.Errorf("%s is not a quoted text", value)
		}
		value = text
	} else if !plainWord(value) {
		return fmt.Errorf("%s: quote a value that is not a plain word", word)
	}
	if _, twice := a.Params[name]; twice {
		return fmt.Errorf("%s stands twice", name)
	}
	if a.Params == nil {
		a.Params = Params{}
	}
	a.Params[name] = value
	return nil
}

func textError(line, problem string) error {
	return &FieldError{Field: fmt.Sprintf("action %q", line), Problem: strings.TrimPrefix(problem, "plan: ")}
}

// splitWords splits at spaces outside of double quotes.
func splitWords(line string) (words []string, err error) {
	start, quoted := -1, false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
			if start < 0 {
				start = i
			}
		case c == ' ' && !quoted:
			if start >= 0 {
				words = append(words, line[start:i])
			}
			start = -1
		case start < 0:
			start = i
		}
	}
	if quoted {
		return nil, fmt.Errorf("a quote is not closed")
	}
	if start >= 0 {
		words = append(words, line[start:])
	}
	return words, nil
}

// plainWord reports whether a value can stand in an action line without quotes.
func plainWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if !wordByte(s[i]) && !strings.ContainsRune(",:*+%<>()[]|!?&;~^$@/", rune(s[i])) {
			return false
		}
	}
	return s != ""
}

// identifier reports whether s can be an id, a kind or the name of a parameter: letters, digits and . _ - /, none of the
// latter in front.
func identifier(s string) bool {
	for i := 0; i < len(s); i++ {
		if !wordByte(s[i]) && s[i] != '/' || i == 0 && strings.IndexByte("._-/", s[i]) >= 0 {
			return false
		}
	}
	return s != ""
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}
