package scenarios

import (
	"fmt"
	"reflect"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// contents is sim.Catalogue.Contents: what a message says of itself, its fields, and the records that it carries, decoded.
func contents(m sim.Message) []string {
	lines := []string{fmt.Sprint(m)}
	var carried []byte
	shown := any(m)
	switch r := m.(type) {
	case *raft.FetchResponse:
		c := *r
		carried, c.Records = c.Records, nil
		shown = &c
	case *commitPost:
		for i := range r.batches {
			b := &r.batches[i]
			lines = append(lines, fmt.Sprintf("batch %d to %d of epoch %d", b.BaseOffset, b.LastOffset, b.Epoch))
		}
		return lines
	case raft.Message:
	default:
		return lines
	}
	lines = appendFields(lines, "  ", reflect.ValueOf(shown))
	for _, u := range decodeLog(carried) {
		lines = append(lines, fmt.Sprintf("record %d epoch %d %s", u.Offset, u.Epoch, u.Text))
	}
	return lines
}

// appendFields lists the fields of a value, one a line, those inside of others further to the right. What can say itself does.
func appendFields(lines []string, indent string, v reflect.Value) []string {
	v = reflect.Indirect(v)
	if v.Kind() != reflect.Struct {
		return append(lines, fmt.Sprintf("%s%v", indent, v))
	}
	for i := range v.NumField() {
		name, f := v.Type().Field(i), reflect.Indirect(v.Field(i))
		if !name.IsExported() || !f.IsValid() {
			continue
		}
		_, says := f.Interface().(fmt.Stringer)
		switch {
		case f.Kind() == reflect.Struct && !says:
			lines = appendFields(append(lines, indent+name.Name+":"), indent+"  ", f)
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct && !says:
			lines = append(lines, fmt.Sprintf("%s%s: %d", indent, name.Name, f.Len()))
			for k := range f.Len() {
				lines = appendFields(append(lines, fmt.Sprintf("%s  [%d]", indent, k)), indent+"    ", f.Index(k))
			}
		default:
			lines = append(lines, fmt.Sprintf("%s%s: %v", indent, name.Name, f.Interface()))
		}
	}
	return lines
}
