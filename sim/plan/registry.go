package plan

import (
	"slices"
	"strings"
)

// FieldType is what a parameter holds.
type FieldType uint8

// The field types. Their text forms: a host id; a number; a duration such as 1.5s, 20ms or 7us; a word; a text in quotes
// when it has spaces.
const (
	HostField  FieldType = iota
	HostsField           // several host ids, comma separated
	NumberField
	DurationField
	WordField
	TextField
)

// Field is one parameter of a registered kind.
type Field struct {
	Name     string // one that ends with an asterisk stands for all names that begin so
	Type     FieldType
	Required bool
	Judged   bool     // parameter of a plan that says what is judged, and so what is declared: shrinking keeps it
	Symbolic bool     // HostField, HostsField of an action: takes the words of AddTargets, too
	Words    []string // WordField: what is allowed, "golden:*" for all that begin so; empty allows any
	// Min and Max bound a number, and a duration in microseconds; both 0: anything goes.
	Min, Max int64
	// Usual is the value of a number that is absent, where Below or the Below of another field speaks of it. Below are fields of the same
	// plan that a sensible configuration has above this one. Plans are free to break that; shrinking does not do so by leaving a field out.
	Usual int64
	Below []string
	Doc   string
}

// Kind is a registered kind of action, workload or host: its name, its parameters and what it does.
type Kind struct {
	Name   string
	Fields []Field
	Doc    string
}

// Registry is the set of kinds that plans may use. The core registers its faults, scenarios add theirs.
type Registry struct {
	actions    []Kind
	workloads  []Kind
	parameters []Parameters
}

// Parameters are what the scenarios of a family take in plan.params and hosts[].params. A family without any registered takes
// whatever its Build makes of it.
type Parameters struct {
	Scenario   string // prefix of the scenario names; of several that fit, the longest counts
	Plan, Host []Field
	// HostKinds are the words that Host.Kind may be; nil allows any.
	HostKinds []string
	// Check looks at what no single field shows, such as ids that must differ; nil when there is nothing.
	Check func(p *Plan) error
}

// AddParameters registers the parameters of a family of scenarios. A family registered twice is a programmer's error.
func (r *Registry) AddParameters(p Parameters) {
	for i := range r.parameters {
		if r.parameters[i].Scenario == p.Scenario {
			panic("plan: parameters of " + p.Scenario + " registered twice")
		}
	}
	r.parameters = append(r.parameters, p)
}

// Parameters returns the registered families in order of registration.
func (r *Registry) Parameters() []Parameters { return r.parameters }

// parametersOf returns what a scenario takes, or nil when nobody said.
func (r *Registry) parametersOf(scenario string) (best *Parameters) {
	for i := range r.parameters {
		p := &r.parameters[i]
		if strings.HasPrefix(scenario, p.Scenario) && (best == nil || len(p.Scenario) > len(best.Scenario)) {
			best = p
		}
	}
	return best
}

// PlanParameter returns what is registered under a name for the plans of a scenario, nil when nothing is.
func (r *Registry) PlanParameter(scenario, name string) *Field {
	family := r.parametersOf(scenario)
	if family == nil {
		return nil
	}
	for i := range family.Plan {
		f := &family.Plan[i]
		if stem, open := strings.CutSuffix(f.Name, "*"); f.Name == name || open && strings.HasPrefix(name, stem) {
			return f
		}
	}
	return nil
}

// Contradictions counts the parameters of a plan that are not below those that their fields name in Field.Below, absent ones by their
// usual values.
func (r *Registry) Contradictions(p *Plan) (n int64) {
	family := r.parametersOf(p.Scenario)
	if family == nil {
		return 0
	}
	value := func(f *Field) int64 {
		v, err := p.Params.Int64(f.Name, f.Usual)
		if err != nil {
			return f.Usual
		}
		return v
	}
	for i := range family.Plan {
		f := &family.Plan[i]
		for _, name := range f.Below {
			if above := r.PlanParameter(p.Scenario, name); above != nil && value(f) >= value(above) {
				n++
			}
		}
	}
	return n
}

// AddAction registers a kind of action. A name registered twice is a programmer's error.
func (r *Registry) AddAction(k Kind) {
	for i := range r.actions {
		if r.actions[i].Name == k.Name {
			panic("plan: action kind " + k.Name + " registered twice")
		}
	}
	r.actions = append(r.actions, k)
}

// AddTargets declares words that stand for hosts, such as "leader", for every symbolic parameter of the kinds that are registered by now.
func (r *Registry) AddTargets(words ...string) {
	for i := range r.actions {
		fields := slices.Clone(r.actions[i].Fields)
		for k := range fields {
			if fields[k].Symbolic {
				fields[k].Words = append(slices.Clone(fields[k].Words), words...)
			}
		}
		r.actions[i].Fields = fields
	}
}

// AddWorkload registers a kind of workload.
func (r *Registry) AddWorkload(k Kind) {
	for i := range r.workloads {
		if r.workloads[i].Name == k.Name {
			panic("plan: workload kind " + k.Name + " registered twice")
		}
	}
	r.workloads = append(r.workloads, k)
}

// Actions returns the registered kinds in order of registration.
func (r *Registry) Actions() []Kind { return r.actions }

// Workloads returns the registered kinds in order of registration.
func (r *Registry) Workloads() []Kind { return r.workloads }

// Action returns the kind with that name, or nil.
func (r *Registry) Action(name string) *Kind {
	for i := range r.actions {
		if r.actions[i].Name == name {
			return &r.actions[i]
		}
	}
	return nil
}

// Workload returns the kind of workload with that name, or nil.
func (r *Registry) Workload(name string) *Kind {
	for i := range r.workloads {
		if r.workloads[i].Name == name {
			return &r.workloads[i]
		}
	}
	return nil
}

// Field returns the parameter with that name, or nil.
func (k *Kind) Field(name string) *Field {
	for i := range k.Fields {
		if stands(k.Fields[i].Name, name) {
			return &k.Fields[i]
		}
	}
	return nil
}

// stands reports whether a name or word is the one declared, or begins as one that ends with an asterisk.
func stands(declared, name string) bool {
	if prefix, open := strings.CutSuffix(declared, "*"); open {
		return len(name) > len(prefix) && strings.HasPrefix(name, prefix)
	}
	return declared == name
}

// maxNamed is how many parameters a message lists; of more it names the nearest.
const maxNamed = 12

// fieldNames says what there is in place of a name that is not there.
func (k *Kind) fieldNames(wrong string) string {
	names := make([]string, len(k.Fields))
	for i := range k.Fields {
		names[i] = k.Fields[i].Name
	}
	switch {
	case len(names) == 0:
		return "it takes none"
	case len(names) <= maxNamed:
		return "it takes " + strings.Join(names, ", ")
	}
	return "the nearest are " + strings.Join(Nearest(wrong, names, 3), ", ") + "; see `list params`"
}
