package cli

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/kraftsim/kraftsim/sim/history"
)

// predicate is a condition over an event and the states of the hosts at it.
type predicate struct {
	text      string
	program   *vm.Program
	names     *predicateNames
	momentary bool // it speaks of the event, not of a state: it holds anew at each
	hosts     bool // it asks for hosts by name
	anyEpoch  bool // it speaks of epoch and of no host: it holds when it does for an epoch that some host is in
	failed    bool // that it failed was said
}

// predicateEvent is what a predicate may ask of the event.
type predicateEvent struct {
	Seq    int    `expr:"seq"`
	ID     int    `expr:"id"`
	AtUs   int    `expr:"at_us"`
	Host   string `expr:"host"`
	Peer   string `expr:"peer"`
	Lane   string `expr:"lane"`
	Kind   string `expr:"kind"`
	Text   string `expr:"text"`
	Action string `expr:"action"`
	Topic  string `expr:"topic"`
	Clause string `expr:"clause"`
	Weight int    `expr:"weight"`
}

// predicateNames are the facets that a history has, as the fields of a host: a number where all values are numbers, else a text. A
// number that is not known is -1.
type predicateNames struct {
	history *history.History
	facets  []string // names of the fields
	index   map[string]int
	host    reflect.Type
}

// fixedFields come before the facets.
const fixedFields = 3

func namesOf(h *history.History) *predicateNames {
	numbers := map[string]bool{}
	for i := range h.Events {
		for _, f := range h.Events[i].Facets {
			if f.Value == "" {
				continue
			}
			_, err := strconv.Atoi(f.Value)
			number, known := numbers[f.Name]
			numbers[f.Name] = err == nil && (number || !known)
		}
	}
	n := &predicateNames{history: h, index: map[string]int{}}
	for name := range numbers {
		if field := fieldName(name); field != "name" && field != "up" && field != "boot" {
			n.facets = append(n.facets, name)
		}
	}
	slices.Sort(n.facets)
	fields := []reflect.StructField{
		{Name: "Name", Type: reflect.TypeFor[string](), Tag: `expr:"name"`},
		{Name: "Up", Type: reflect.TypeFor[bool](), Tag: `expr:"up"`},
		{Name: "Boot", Type: reflect.TypeFor[int](), Tag: `expr:"boot"`},
	}
	for i, name := range n.facets {
		f := reflect.StructField{Name: "F" + strconv.Itoa(i), Type: reflect.TypeFor[string](),
			Tag: reflect.StructTag(`expr:"` + fieldName(name) + `"`)}
		if numbers[name] {
			f.Type = reflect.TypeFor[int]()
		}
		fields = append(fields, f)
		n.index[name] = i + fixedFields
	}
	n.host = reflect.StructOf(fields)
	return n
}

// fieldName is a facet's name as predicates have it.
func fieldName(facet string) string { return strings.NewReplacer("-", "_", ".", "_").Replace(facet) }

// String lists what there is.
func (n *predicateNames) String() string {
	fields := []string{"name", "up", "boot"}
	for _, name := range n.facets {
		fields = append(fields, fieldName(name))
	}
	var event []string
	t := reflect.TypeFor[predicateEvent]()
	for i := range t.NumField() {
		event = append(event, t.Field(i).Tag.Get("expr"))
	}
	return "event." + strings.Join(event, ", ") + "; host (of the event) and hosts[NAME]: ." + strings.Join(fields, ", ") +
		"; epoch (of the host); leaders(EPOCH), roles(ROLE): how many hosts"
}

// env is what a predicate sees at a cursor; nil gives one for its types. The map of hosts is made for those who ask for it.
func (n *predicateNames) env(c *history.Cursor, byName bool) map[string]any {
	env := map[string]any{
		"event": predicateEvent{}, "host": n.value("", nil), "epoch": -1,
		"leaders": func(int) int { return 0 }, "roles": func(string) int { return 0 },
		"hosts": reflect.MakeMap(reflect.MapOf(reflect.TypeFor[string](), n.host)).Interface(),
	}
	if c == nil {
		return env
	}
	e := c.Event()
	seen := predicateEvent{Seq: int(e.Seq), ID: int(e.ID), AtUs: int(e.AtUs), Lane: e.Lane, Kind: string(e.Kind), Text: e.Text,
		Action: e.Action, Weight: int(e.Weight)}
	if e.Claim != nil {
		seen.Topic, seen.Clause = e.Claim.Topic, e.Claim.Clause
	}
	if e.Peer >= 0 {
		seen.Peer = n.history.Hosts[e.Peer]
	}
	if e.Host >= 0 {
		s := &c.Hosts[e.Host]
		seen.Host = n.history.Hosts[e.Host]
		env["host"] = n.value(seen.Host, s)
		env["epoch"] = number(s.Value("epoch"))
	}
	env["event"] = seen
	env["leaders"] = func(epoch int) int {
		return count(c, func(s *history.HostState) bool {
			return s.Value("role") == "leader" && number(s.Value("epoch")) == epoch
		})
	}
	env["roles"] = func(role string) int {
		return count(c, func(s *history.HostState) bool { return s.Value("role") == role })
	}
	if !byName {
		return env
	}
	all := reflect.MakeMap(reflect.MapOf(reflect.TypeFor[string](), n.host))
	for i, id := range n.history.Hosts {
		all.SetMapIndex(reflect.ValueOf(id), reflect.ValueOf(n.value(id, &c.Hosts[i])))
	}
	env["hosts"] = all.Interface()
	return env
}

func count(c *history.Cursor, fits func(s *history.HostState) bool) (n int) {
	for i := range c.Hosts {
		if c.Hosts[i].Up && fits(&c.Hosts[i]) {
			n++
		}
	}
	return n
}

func number(text string) int {
	if v, err := strconv.Atoi(text); err == nil {
		return v
	}
	return -1
}

// value is a host as a predicate sees it.
func (n *predicateNames) value(id string, s *history.HostState) any {
	v := reflect.New(n.host).Elem()
	v.Field(0).SetString(id)
	for i := range n.facets {
		if f := v.Field(i + fixedFields); f.Kind() == reflect.Int {
			f.SetInt(-1)
		}
	}
	if s == nil {
		return v.Interface()
	}
	v.Field(1).SetBool(s.Up)
	v.Field(2).SetInt(int64(s.Boot))
	for _, f := range s.Facets {
		i, ok := n.index[f.Name]
		if !ok {
			continue
		}
		if v.Field(i).Kind() == reflect.Int {
			v.Field(i).SetInt(int64(number(f.Value)))
		} else {
			v.Field(i).SetString(f.Value)
		}
	}
	return v.Interface()
}

// compile reads a predicate. An error is one line that names what there is.
func (n *predicateNames) compile(text string) (*predicate, error) {
	program, err := expr.Compile(text, expr.Env(n.env(nil, true)), expr.AsBool())
	if err != nil {
		why, _, _ := strings.Cut(err.Error(), "\n")
		if i := strings.Index(why, "type struct {"); i >= 0 { // the whole of a host's type
			why = why[:i] + "host" + why[strings.LastIndex(why, "}")+1:]
		}
		return nil, fmt.Errorf("bad predicate: %s; there are: %s", why, n)
	}
	return &predicate{text: text, program: program, names: n, momentary: strings.Contains(text, "event."),
		hosts: strings.Contains(text, "hosts"), anyEpoch: freeEpoch.MatchString(text) && !strings.Contains(text, "event.") &&
			!strings.Contains(text, "host")}, nil
}

// freeEpoch finds the epoch that is nobody's field.
var freeEpoch = regexp.MustCompile(`(^|[^.\w])epoch\b`)

// holds evaluates the predicate at a cursor.
func (p *predicate) holds(c *history.Cursor) (bool, error) {
	env := p.names.env(c, p.hosts)
	if !p.anyEpoch {
		return p.run(env)
	}
	var asked []int
	for i := range c.Hosts {
		epoch := number(c.Hosts[i].Value("epoch"))
		if !c.Hosts[i].Up || slices.Contains(asked, epoch) {
			continue
		}
		asked = append(asked, epoch)
		env["epoch"] = epoch
		if holds, err := p.run(env); holds || err != nil {
			return holds, err
		}
	}
	return false, nil
}

func (p *predicate) run(env map[string]any) (bool, error) {
	out, err := expr.Run(p.program, env)
	if err != nil {
		why, _, _ := strings.Cut(err.Error(), "\n")
		return false, fmt.Errorf("break %s: %s", p.text, why)
	}
	holds, _ := out.(bool)
	return holds, nil
}
