package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// strictDecoder fills a Go value from JSON and accepts less than encoding/json does: names must match to the letter, a
// name may stand once in an object, an unknown name is an error, and every error carries position and path. encoding/json
// alone matches names in any case, takes the last of two equal names, and tells no path for an unknown one.
type strictDecoder struct {
	data []byte
	dec  *json.Decoder
}

var unmarshalerType = reflect.TypeFor[json.Unmarshaler]()

// decodeStrict reads one JSON document into target, a pointer to a struct.
func decodeStrict(data []byte, target any) error {
	d := &strictDecoder{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	if err := d.value(reflect.ValueOf(target).Elem(), ""); err != nil {
		return err
	}
	if _, err := d.dec.Token(); err != io.EOF {
		return d.fail("", "there is more text after the end of the document: remove it")
	}
	return nil
}

// fail builds an error at the position that the decoder has reached.
func (d *strictDecoder) fail(path, problem string) error {
	read := d.data[:min(int(d.dec.InputOffset()), len(d.data))]
	line := 1 + bytes.Count(read, []byte{'\n'})
	column := len(read) - bytes.LastIndexByte(read, '\n')
	return &FieldError{Line: line, Column: column, Field: path, Problem: problem}
}

func (d *strictDecoder) syntax(path string, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return d.fail(path, "the document ends too early")
	}
	return d.fail(path, "not JSON: "+strings.TrimPrefix(err.Error(), "json: "))
}

// value decodes the next JSON value into v.
func (d *strictDecoder) value(v reflect.Value, path string) error {
	if v.Kind() != reflect.Pointer && reflect.PointerTo(v.Type()).Implements(unmarshalerType) {
		return d.leaf(v, path)
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem(), path)
	case reflect.Struct:
		return d.object(path, func(name, path string) error {
			field, ok := fieldByName(v, name)
			if !ok {
				return d.fail(path, "unknown field: remove it, or check its spelling ("+names(v.Type())+")")
			}
			return d.value(field, path)
		})
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		return d.object(path, func(name, path string) error {
			element := reflect.New(v.Type().Elem()).Elem()
			if err := d.value(element, path); err != nil {
				return err
			}
			v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), element)
			return nil
		})
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return d.leaf(v, path)
		}
		return d.array(v, path)
	default:
		return d.leaf(v, path)
	}
}

// object walks the members of the next value, which must be an object.
func (d *strictDecoder) object(path string, member func(name, path string) error) error {
	if err := d.open('{', path, "an object {...}"); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for d.dec.More() {
		token, err := d.dec.Token()
		if err != nil {
			return d.syntax(path, err)
		}
		name := token.(string) // the decoder yields only strings in this position
		at := name
		if path != "" {
			at = path + "." + name
		}
		if seen[name] {
			return d.fail(at, "this name stands twice in the object: keep one")
		}
		seen[name] = true
		if err := member(name, at); err != nil {
			return err
		}
	}
	if _, err := d.dec.Token(); err != nil {
		return d.syntax(path, err)
	}
	return nil
}

func (d *strictDecoder) array(v reflect.Value, path string) error {
	if err := d.open('[', path, "an array [...]"); err != nil {
		return err
	}
	for i := 0; d.dec.More(); i++ {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		if err := d.value(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	if _, err := d.dec.Token(); err != nil {
		return d.syntax(path, err)
	}
	return nil
}

func (d *strictDecoder) open(want json.Delim, path, what string) error {
	token, err := d.dec.Token()
	if err != nil {
		return d.syntax(path, err)
	}
	if token != want {
		return d.fail(path, fmt.Sprintf("must be %s, found %s", what, describe(token)))
	}
	return nil
}

// leaf decodes a value that has no members of its own.
func (d *strictDecoder) leaf(v reflect.Value, path string) error {
	var raw json.RawMessage
	if err := d.dec.Decode(&raw); err != nil {
		return d.syntax(path, err)
	}
	if string(raw) == "null" {
		return d.fail(path, "null has no meaning here: leave the field out")
	}
	if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
		if t, ok := err.(*json.UnmarshalTypeError); ok {
			return d.fail(path, fmt.Sprintf("must be %s, found %s", goodName(t.Type), t.Value))
		}
		return d.fail(path, strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func fieldByName(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); tag == name && tag != "" {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// names lists the fields that a struct has in JSON.
func names(t reflect.Type) string {
	var list []string
	for i := range t.NumField() {
		tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		list = append(list, tag)
	}
	return strings.Join(list, ", ")
}

func describe(token json.Token) string {
	switch t := token.(type) {
	case json.Delim:
		return map[json.Delim]string{'{': "an object", '[': "an array"}[t]
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case nil:
		return "null"
	default:
		return "a number"
	}
}

func goodName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a base64 string"
	default:
		return fmt.Sprintf("a whole number of %d bits", t.Bits())
	}
}
