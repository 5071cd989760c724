package metaprops

import (
	"errors"
	"strings"
	"unicode/utf16"
)

// errEscape: java.util.Properties throws on \u that is not followed by four hexadecimal digits.
var errEscape = errors.New("metaprops: malformed \\uxxxx escape")

// ParseJava reads any file of Java properties, such as a server's configuration: content as Latin-1 bytes, the result by key. A
// key that comes twice counts as the last time; a malformed escape is an error.
func ParseJava(content []byte) (map[string]string, error) { return parseJava(content) }

// parseJava reads Java properties text, given as Latin-1 bytes. A key that comes twice counts as the last time.
func parseJava(content []byte) (map[string]string, error) {
	properties := map[string]string{}
	scanner := lineScanner{in: content}
	for scanner.next() {
		rawKey, rawValue := splitLine(scanner.line)
		key, err := unescape(rawKey)
		if err != nil {
			return nil, err
		}
		value, err := unescape(rawValue)
		if err != nil {
			return nil, err
		}
		properties[key] = value
	}
	return properties, nil
}

// lineScanner joins natural lines into logical ones: comments and blank lines are gone, continuations are joined.
type lineScanner struct {
	in   []byte
	line []byte
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\f' }
func isEnd(c byte) bool   { return c == '\n' || c == '\r' }

// next finds the next logical line. A line is continued when an odd number of backslashes ends it; a comment never is,
// and what continues a line is no comment however it begins.
func (s *lineScanner) next() bool {
	s.line = s.line[:0]
	for len(s.in) > 0 {
		natural := s.natural()
		if len(s.line) == 0 && (len(natural) == 0 || natural[0] == '#' || natural[0] == '!') {
			continue
		}
		s.line = append(s.line, natural...)
		if !endsEscaped(natural) {
			return true
		}
		s.line = s.line[:len(s.line)-1] // also at the end of the file
	}
	return len(s.line) > 0
}

// natural cuts off one line without its blank beginning and its end (\n, \r or \r\n).
func (s *lineScanner) natural() []byte {
	i := 0
	for i < len(s.in) && isBlank(s.in[i]) {
		i++
	}
	j := i
	for j < len(s.in) && !isEnd(s.in[j]) {
		j++
	}
	line := s.in[i:j]
	if j < len(s.in) && s.in[j] == '\r' && j+1 < len(s.in) && s.in[j+1] == '\n' {
		j++
	}
	s.in = s.in[min(j+1, len(s.in)):]
	return line
}

func endsEscaped(line []byte) bool {
	escaped := false
	for i := len(line) - 1; i >= 0 && line[i] == '\\'; i-- {
		escaped = !escaped
	}
	return escaped
}

// splitLine cuts at the first separator that is not escaped: '=', ':' or white space, the latter with one '=' or ':'
// after it.
func splitLine(line []byte) (key, value []byte) {
	i, escaped := 0, false
	for ; i < len(line); i++ {
		c := line[i]
		if !escaped && (c == '=' || c == ':' || isBlank(c)) {
			break
		}
		escaped = c == '\\' && !escaped
	}
	key, value = line[:i], line[i:]
	seen := false
	for len(value) > 0 {
		c := value[0]
		if !isBlank(c) && (seen || c != '=' && c != ':') {
			break
		}
		seen = seen || c == '=' || c == ':'
		value = value[1:]
	}
	return key, value
}

func unescape(raw []byte) (string, error) {
	units := make([]uint16, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' || i+1 == len(raw) {
			units = append(units, uint16(c)) // Latin-1 is the first 256 characters of Unicode
			continue
		}
		i++
		switch c = raw[i]; c {
		case 't':
			units = append(units, '\t')
		case 'r':
			units = append(units, '\r')
		case 'n':
			units = append(units, '\n')
		case 'f':
			units = append(units, '\f')
		case 'u':
			if i+4 >= len(raw) {
				return "", errEscape
			}
			unit, ok := hexUnit(raw[i+1 : i+5])
			if !ok {
				return "", errEscape
			}
			units = append(units, unit)
			i += 4
		default:
			units = append(units, uint16(c))
		}
	}
	return string(utf16.Decode(units)), nil
}

func hexUnit(digits []byte) (unit uint16, ok bool) {
	for _, c := range digits {
		v := strings.IndexByte("0123456789abcdef", c|0x20)
		if v < 0 || c < '0' {
			return 0, false
		}
		unit = unit<<4 | uint16(v)
	}
	return unit, true
}

// appendEscaped writes a value so that any reader gets it back.
func appendEscaped(dst []byte, value string) []byte {
	for i, c := range value {
		switch {
		case c == ' ' && i == 0:
			dst = append(dst, '\\', ' ')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case strings.ContainsRune(`\=:#!`, c):
			dst = append(dst, '\\', byte(c))
		case c >= ' ' && c < 0x7f:
			dst = append(dst, byte(c))
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			dst = appendUnit(appendUnit(dst, uint16(high)), uint16(low))
		default:
			dst = appendUnit(dst, uint16(c))
		}
	}
	return dst
}

func appendUnit(dst []byte, unit uint16) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}
