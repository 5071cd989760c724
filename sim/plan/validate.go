package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The ends of the ranges. Sums and products of a few such values stay far below 64 bits.
const (
	million       = 1_000_000
	maxDriftPpm   = 500_000
	maxHosts      = 128
	maxDurationUs = 24 * 3600 * million // one day
	maxModelUs    = 3600 * million      // one hour, for what the models add to one message or one post
	maxModelNs    = 60 * 1000 * million // one minute, for what the disk takes: times jitter, times a fault of a million per cent
	maxOffsetMs   = 1000 * million
	maxWeights    = 1024
	maxPercent    = 10_000
	maxActions    = 100_000
	maxBytes      = 1 << 40 // a second, or waiting
	leastRate     = 100     // bytes per second: a message of a kilobyte takes ten seconds
)

// Validate checks a plan as far as that goes without running it: ids, ranges, kinds and their parameters. The registry says
// which kinds there are; nil skips the kinds. The first problem is returned as a *FieldError. A scenario may still refuse the
// plan for reasons of its own.
func Validate(p *Plan, r *Registry) error {
	if err := checkFormat("format", p.Format); err != nil {
		return err
	}
	if p.Scenario == "" {
		return &FieldError{Field: "scenario", Problem: "missing: name one of `list scenarios`"}
	}
	if p.StormUs < 0 || p.StormUs > maxDurationUs {
		return outside("storm_us", int64(p.StormUs), 0, maxDurationUs, ", a day")
	}
	if err := checkHosts(p.Hosts); err != nil {
		return err
	}
	if err := checkModels(p); err != nil {
		return err
	}
	if err := checkScheduler(&p.Scheduler); err != nil {
		return err
	}
	if err := checkDecisions(p.Decisions); err != nil {
		return err
	}
	if err := r.checkScenario(p); err != nil {
		return err
	}
	if err := checkWorkload(p, r); err != nil {
		return err
	}
	return checkActions(p, r)
}

// outside says that a value is not in its range. why follows the upper end.
func outside(field string, value, low, high int64, why string) error {
	if value < 0 && low == 0 {
		return &FieldError{Field: field, Problem: "must not be negative"}
	}
	return &FieldError{Field: field, Problem: fmt.Sprintf("%d is not in the range from %d to %d%s", value, low, high, why)}
}

// checkDecisions refuses two overrides of one decision: only one of them could count.
func checkDecisions(decisions []Decision) error {
	first := make(map[Uint64]int, len(decisions))
	for i := range decisions {
		d := &decisions[i]
		if at, twice := first[d.NameHash]; twice {
			return &FieldError{Field: fmt.Sprintf("decisions[%d].hash", i),
				Problem: fmt.Sprintf("%d is overridden by decisions[%d] already: keep one of them", d.NameHash, at)}
		}
		first[d.NameHash] = i
	}
	return nil
}

// checkScenario checks the parameters of the plan and of its hosts, as far as the scenario has registered them.
func (r *Registry) checkScenario(p *Plan) error {
	if r == nil {
		return nil
	}
	family := r.parametersOf(p.Scenario)
	if family == nil {
		return nil
	}
	if err := checkParams("", &Kind{Name: p.Scenario, Fields: family.Plan}, p.Params, p.Hosts); err != nil {
		return err
	}
	host := Kind{Name: "a host of " + p.Scenario, Fields: family.Host}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		at := fmt.Sprintf("hosts[%d]", i)
		if family.HostKinds != nil && !slices.Contains(family.HostKinds, h.Kind) {
			return &FieldError{Field: at + ".kind", Problem: fmt.Sprintf("%q is not one of %s", h.Kind, strings.Join(family.HostKinds, ", "))}
		}
		if err := checkParams(at, &host, h.Params, p.Hosts); err != nil {
			return err
		}
	}
	if family.Check == nil {
		return nil
	}
	return family.Check(p)
}

func checkHosts(hosts []Host) error {
	if len(hosts) == 0 {
		return &FieldError{Field: "hosts", Problem: "missing: a plan needs at least one host"}
	}
	if len(hosts) > maxHosts {
		return &FieldError{Field: "hosts", Problem: fmt.Sprintf("%d are more than %d, the most that a plan may have", len(hosts), maxHosts)}
	}
	ids := make(map[string]int, len(hosts))
	for i := range hosts {
		h := &hosts[i]
		at := fmt.Sprintf("hosts[%d]", i)
		if err := checkID(at, h.ID, ids, i); err != nil {
			return err
		}
		if h.Rack != "" && !identifier(h.Rack) {
			return &FieldError{Field: at + ".rack", Problem: fmt.Sprintf("%q is not an id: use letters, digits and . _ - /", h.Rack)}
		}
		if h.Kind == "" {
			return &FieldError{Field: at + ".kind", Problem: "missing: say what runs on host " + h.ID}
		}
		if h.StartUs < 0 || h.StartUs > maxDurationUs {
			return outside(at+".start_us", int64(h.StartUs), 0, maxDurationUs, ", a day")
		}
		if h.OffsetMs < -maxOffsetMs || h.OffsetMs > maxOffsetMs {
			return outside(at+".offset_ms", int64(h.OffsetMs), -maxOffsetMs, maxOffsetMs, "")
		}
		if h.DriftPpm < -maxDriftPpm || h.DriftPpm > maxDriftPpm {
			return &FieldError{Field: at + ".drift_ppm",
				Problem: fmt.Sprintf("must lie between -%d and %d: no clock runs more wrong than by half", maxDriftPpm, maxDriftPpm)}
		}
	}
	return nil
}

// checkID refuses a missing, malformed or repeated id.
func checkID(at, id string, seen map[string]int, index int) error {
	if !identifier(id) {
		problem := fmt.Sprintf("%q is not an id: use letters, digits and . _ - /", id)
		if id == "" {
			problem = "missing: every host, workload and action has an id of its own"
		}
		return &FieldError{Field: at + ".id", Problem: problem}
	}
	if first, twice := seen[id]; twice {
		list, _, _ := strings.Cut(at, "[")
		return &FieldError{Field: at + ".id", Problem: fmt.Sprintf("%q is taken by %s[%d]: choose another", id, list, first)}
	}
	seen[id] = index
	return nil
}

// bound is the range of one numeric field, from 0.
type bound struct {
	field       string
	value, high int64
}

func checkModels(p *Plan) error {
	n, d, l := &p.Network, &p.Disk, &p.Lanes
	if !slices.Contains([]string{"", "stream", "datagram"}, n.Transport) {
		return &FieldError{Field: "network.transport", Problem: fmt.Sprintf("%q is not known: stream or datagram", n.Transport)}
	}
	if !slices.Contains([]string{"", "ordered", "posix"}, d.Profile) {
		return &FieldError{Field: "disk.profile", Problem: fmt.Sprintf("%q is not known: ordered or posix", d.Profile)}
	}
	if !slices.Contains([]string{"", "drop", "keep"}, d.FailedSync) {
		return &FieldError{Field: "disk.failed_sync", Problem: fmt.Sprintf("%q is not known: drop or keep", d.FailedSync)}
	}
	for _, b := range []bound{
		{"network.latency_us", n.LatencyUs, maxModelUs}, {"network.jitter_us", n.JitterUs, maxModelUs}, {"network.tail_us", n.TailUs, maxModelUs},
		{"network.reorder_us", n.ReorderUs, maxModelUs}, {"network.tail_ppm", n.TailPpm, million},
		{"network.reset_ppm", n.ResetPpm, million}, {"network.loss_ppm", n.LossPpm, million},
		{"network.duplicate_ppm", n.DuplicatePpm, million}, {"network.reorder_ppm", n.ReorderPpm, million}, {"network.corrupt_ppm", n.CorruptPpm, million},
		{"network.bytes_per_second", n.BytesPerSecond, maxBytes}, {"network.queue_bytes", n.QueueBytes, maxBytes},
		{"network.cross_rack_us", n.CrossRackUs, maxModelUs},
		{"disk.write_ns", d.WriteNs, maxModelNs}, {"disk.sync_ns", d.SyncNs, maxModelNs}, {"disk.metadata_ns", d.MetadataNs, maxModelNs},
		{"disk.jitter_percent", d.JitterPercent, maxPercent}, {"disk.slow_sync_ns", d.SlowSyncNs, maxModelNs},
		{"disk.slow_sync_ppm", d.SlowSyncPpm, million}, {"disk.read_error_ppm", d.ReadErrorPpm, million},
		{"disk.write_error_ppm", d.WriteErrorPpm, million}, {"disk.sync_error_ppm", d.SyncErrorPpm, million},
		{"lanes.post_jitter_us", l.PostJitterUs, maxModelUs}, {"lanes.wake_jitter_us", l.WakeJitterUs, maxModelUs},
		{"lanes.spurious_ppm", l.SpuriousPpm, million},
	} {
		if b.value < 0 {
			return &FieldError{Field: b.field, Problem: "must not be negative"}
		}
		if b.value > b.high {
			why := ""
			if strings.HasSuffix(b.field, "_ppm") {
				why = ", which is always"
			}
			return &FieldError{Field: b.field, Problem: fmt.Sprintf("%d is more than %d%s", b.value, b.high, why)}
		}
	}
	if err := checkTransport(n); err != nil {
		return err
	}
	if n.BytesPerSecond > 0 && n.BytesPerSecond < leastRate {
		return &FieldError{Field: "network.bytes_per_second", Problem: fmt.Sprintf("%d is less than %d: no message would ever arrive", n.BytesPerSecond, leastRate)}
	}
	if n.QueueBytes > 0 && n.BytesPerSecond == 0 {
		return &FieldError{Field: "network.queue_bytes", Problem: "needs network.bytes_per_second: nothing waits for a link that carries everything"}
	}
	if len(n.Weights) > maxWeights {
		return &FieldError{Field: "network.weights", Problem: fmt.Sprintf("%d are more than %d", len(n.Weights), maxWeights)}
	}
	for i, weight := range n.Weights {
		if at := fmt.Sprintf("network.weights[%d]", i); weight < 0 || weight > million {
			return &FieldError{Field: at, Problem: "must lie between 0 and 1000000"}
		}
	}
	return nil
}

// checkTransport refuses rates that the transport of the plan would ignore: a plan must not promise faults that never come.
func checkTransport(n *Network) error {
	if n.Transport == "datagram" {
		return nil
	}
	for _, b := range []bound{
		{field: "network.loss_ppm", value: n.LossPpm}, {field: "network.duplicate_ppm", value: n.DuplicatePpm},
		{field: "network.reorder_ppm", value: n.ReorderPpm},
	} {
		if b.value != 0 {
			return &FieldError{Field: b.field, Problem: "needs network.transport \"datagram\": a stream loses, repeats and reorders nothing"}
		}
	}
	return nil
}

func checkWorkload(p *Plan, r *Registry) error {
	ids := make(map[string]int, len(p.Workload))
	for i := range p.Workload {
		w := &p.Workload[i]
		at := fmt.Sprintf("workload[%d]", i)
		if err := checkID(at, w.ID, ids, i); err != nil {
			return err
		}
		if r == nil {
			continue
		}
		k := r.Workload(w.Kind)
		if k == nil {
			return unknownKind(at, "workload", w.Kind, r.workloads)
		}
		if err := checkParams(at, k, w.Params, p.Hosts); err != nil {
			return err
		}
	}
	return nil
}

func checkActions(p *Plan, r *Registry) error {
	if len(p.Actions) > maxActions {
		return &FieldError{Field: "actions", Problem: fmt.Sprintf("%d are more than %d", len(p.Actions), maxActions)}
	}
	ids := make(map[string]int, len(p.Actions))
	for i := range p.Actions {
		a := &p.Actions[i]
		at := fmt.Sprintf("actions[%d]", i)
		if err := checkID(at, a.ID, ids, i); err != nil {
			return err
		}
		if a.AtUs >= p.StormUs {
			return &FieldError{Field: at + ".at_us", Problem: fmt.Sprintf("%s is not before the end of the storm: storm_us is %s, and in the calm no fault starts",
				FormatDurationUs(int64(a.AtUs)), FormatDurationUs(int64(p.StormUs)))}
		}
		if r == nil {
			continue
		}
		if err := r.checkAction(at, a, p.Hosts); err != nil {
			return err
		}
	}
	return nil
}

// checkAction checks one action; nil hosts leaves host ids unchecked.
func (r *Registry) checkAction(at string, a *Action, hosts []Host) error {
	if a.AtUs < 0 {
		return &FieldError{Field: join(at, "at_us"), Problem: "must not be negative"}
	}
	k := r.Action(a.Kind)
	if k == nil {
		return unknownKind(at, "action", a.Kind, r.actions)
	}
	return checkParams(at, k, a.Params, hosts)
}

func unknownKind(at, what, name string, kinds []Kind) error {
	known := make([]string, len(kinds))
	for i := range kinds {
		known[i] = kinds[i].Name
	}
	slices.Sort(known)
	return &FieldError{Field: join(at, "kind"), Problem: fmt.Sprintf("no %s is called %q: use one of %s",
		what, name, strings.Join(known, ", "))}
}

func checkParams(at string, k *Kind, params Params, hosts []Host) error {
	given := make([]string, 0, len(params))
	for name := range params {
		given = append(given, name)
	}
	slices.Sort(given)
	for _, name := range given {
		if k.Field(name) == nil {
			return &FieldError{Field: join(at, "params."+name), Problem: fmt.Sprintf("%s has no such parameter: %s",
				k.Name, k.fieldNames(name))}
		}
	}
	for i := range k.Fields {
		f := &k.Fields[i]
		value, ok := params[f.Name]
		if !ok {
			if f.Required {
				return &FieldError{Field: join(at, "params."+f.Name), Problem: fmt.Sprintf("missing: %s needs it (%s)", k.Name, f.Doc)}
			}
			continue
		}
		if err := f.check(value, hosts); err != nil {
			return &FieldError{Field: join(at, "params."+f.Name), Problem: err.Error()}
		}
	}
	return nil
}

// check parses the value as the field's type says.
func (f *Field) check(value string, hosts []Host) error {
	switch f.Type {
	case HostField:
		return f.checkHost(value, hosts)
	case HostsField:
		for id := range strings.SplitSeq(value, ",") {
			if err := f.checkHost(id, hosts); err != nil {
				return err
			}
		}
	case NumberField:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", value)
		}
		if f.bounded() && (n < f.Min || n > f.Max) {
			return fmt.Errorf("%d is not in the range from %d to %d", n, f.Min, f.Max)
		}
	case DurationField:
		us, err := ParseDurationUs(value)
		if err != nil {
			return err
		}
		if f.bounded() && (us < f.Min || us > f.Max) {
			return fmt.Errorf("%s is not in the range from %s to %s", value, FormatDurationUs(f.Min), FormatDurationUs(f.Max))
		}
	case WordField:
		if value == "" {
			return errors.New("empty: write a word")
		}
		if len(f.Words) > 0 && !slices.ContainsFunc(f.Words, func(word string) bool { return stands(word, value) }) {
			return fmt.Errorf("%q is not one of %s", value, strings.Join(f.Words, ", "))
		}
	case TextField:
	default:
		return fmt.Errorf("field type %d is not known", f.Type)
	}
	return nil
}

func (f *Field) bounded() bool { return f.Min != 0 || f.Max != 0 }

// checkHost accepts an id of the plan, or one of the symbolic targets that the field lists in Words.
func (f *Field) checkHost(id string, hosts []Host) error {
	if slices.Contains(f.Words, id) {
		return nil
	}
	if hosts == nil {
		if !identifier(id) {
			return fmt.Errorf("%q is not a host id", id)
		}
		return nil
	}
	known := make([]string, len(hosts))
	for i := range hosts {
		if hosts[i].ID == id {
			return nil
		}
		known[i] = hosts[i].ID
	}
	return fmt.Errorf("no host is called %q: use one of %s", id, strings.Join(append(known, f.Words...), ", "))
}

func join(at, field string) string {
	if at == "" {
		return field
	}
	return at + "." + field
}
