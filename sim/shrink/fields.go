package shrink

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// cost is the kind of what a message or a disk operation takes at least. It is rounded, and never taken away.
const cost = "cost"

// schedulerName is the name of the order of events as a field.
const schedulerName = "scheduler"

// field is one value of the plan's models or of a host's clock that is not benign: zero is benign, for ever (see plan.Plan).
type field struct {
	kind  string
	name  string // as in the document: "network.reset_ppm", "n1.drift_ppm"
	value reflect.Value
}

// modelFields lists the fields of a plan that hold something else than their benign value. They are found by reflection, so that a model
// that gets a new field is shrunk by it at once. What names a rule rather than a quantity ("transport") is part of the scenario.
func modelFields(p *plan.Plan) (list []field) {
	for _, model := range []struct {
		name  string
		value reflect.Value
	}{
		{"network", reflect.ValueOf(&p.Network).Elem()}, {"disk", reflect.ValueOf(&p.Disk).Elem()}, {"lanes", reflect.ValueOf(&p.Lanes).Elem()},
	} {
		for i := range model.value.NumField() {
			f := field{name: model.name + "." + jsonName(model.value.Type().Field(i)), value: model.value.Field(i)}
			if f.value.IsZero() || f.name == "network.transport" {
				continue
			}
			f.kind = RatePart
			if f.name == "network.latency_us" || model.name == "disk" && strings.HasSuffix(f.name, "_ns") && f.name != "disk.slow_sync_ns" {
				f.kind = cost
			}
			list = append(list, f)
		}
	}
	if p.Scheduler != (plan.Scheduler{}) { // as a whole: another order than that of time
		list = append(list, field{kind: RatePart, name: schedulerName, value: reflect.ValueOf(&p.Scheduler).Elem()})
	}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		for _, f := range []field{
			{name: "offset_ms", value: reflect.ValueOf(&h.OffsetMs).Elem()}, {name: "drift_ppm", value: reflect.ValueOf(&h.DriftPpm).Elem()},
			{name: "start_us", value: reflect.ValueOf(&h.StartUs).Elem()},
		} {
			if !f.value.IsZero() {
				f.kind, f.name = ClockPart, h.ID+"."+f.name
				list = append(list, f)
			}
		}
	}
	return list
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// clear sets the benign value.
func (f *field) clear() { f.value.SetZero() }

// whole reports whether the field is a number, and returns it.
func (f *field) whole() (v int64, ok bool) {
	if !f.value.CanInt() {
		return 0, false
	}
	return f.value.Int(), true
}

// text prints the value.
func (f *field) text() string {
	if s, ok := f.value.Interface().(plan.Scheduler); ok {
		return fmt.Sprintf("%s within %d us", s.Policy, s.WindowUs)
	}
	return strings.Trim(fmt.Sprint(f.value.Interface()), "[]")
}
