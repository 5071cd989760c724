package plan

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
	Name     string
	Type     FieldType
	Required bool
	Words    []string // WordField: what is allowed; empty allows any
	Doc      string
}

// Kind is a registered kind of action, workload or host: its name, its parameters and what it does.
type Kind struct {
	Name   string
	Fields []Field
	Doc    string
}

// Registry is the set of kinds that plans may use. The core registers its faults, scenarios add theirs.
type Registry struct {
	actions   []Kind
	workloads []Kind
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
		if k.Fields[i].Name == name {
			return &k.Fields[i]
		}
	}
	return nil
}

func (k *Kind) fieldNames() string {
	if len(k.Fields) == 0 {
		return "none"
	}
	text := k.Fields[0].Name
	for i := range k.Fields[1:] {
		text += ", " + k.Fields[i+1].Name
	}
	return text
}
