package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Decode reads a plan document. It checks everything that needs no knowledge of scenarios: JSON, names, types, format.
// Errors are *FieldError with position and field. Validate does the rest.
func Decode(data []byte) (*Plan, error) {
	p := new(Plan)
	if err := otherFormat(data); err != nil {
		return nil, err
	}
	if err := decodeStrict(data, p); err != nil {
		return nil, err
	}
	if err := checkFormat("format", p.Format); err != nil {
		return nil, err
	}
	return p, nil
}

// otherFormat refuses a document of another format before anything else is said about it: its fields may be others, too.
func otherFormat(data []byte) error {
	var head struct {
		Format *int32 `json:"format"`
	}
	if json.Unmarshal(data, &head) != nil || head.Format == nil {
		return nil // the strict reader says what is wrong
	}
	return checkFormat("format", *head.Format)
}

func checkFormat(field string, format int32) error {
	switch format {
	case Format:
		return nil
	case 0:
		return &FieldError{Field: field, Problem: fmt.Sprintf("missing: this program reads format %d", Format)}
	default:
		return &FieldError{Field: field, Problem: fmt.Sprintf("%d is not known: this program reads format %d", format, Format)}
	}
}

// Encode writes a plan as indented JSON with a newline at the end. Same plan, same bytes.
func Encode(p *Plan) ([]byte, error) {
	if p.Hosts == nil { // "hosts": null would not read back
		c := *p
		c.Hosts = []Host{}
		p = &c
	}
	return encode(p)
}

// encode writes indented JSON; encoding/json sorts the keys of maps.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("plan: encode: %w", err)
	}
	return buf.Bytes(), nil
}

// Clone returns a copy that shares nothing with the original.
func (p *Plan) Clone() *Plan {
	c := *p
	c.Params = p.Params.Clone()
	c.Hosts = append([]Host(nil), p.Hosts...)
	for i := range c.Hosts {
		c.Hosts[i].Params = c.Hosts[i].Params.Clone()
	}
	c.Workload = append([]Workload(nil), p.Workload...)
	for i := range c.Workload {
		c.Workload[i].Params = c.Workload[i].Params.Clone()
	}
	c.Actions = append([]Action(nil), p.Actions...)
	for i := range c.Actions {
		c.Actions[i].Params = c.Actions[i].Params.Clone()
	}
	c.Decisions = append([]Decision(nil), p.Decisions...)
	return &c
}
