package sim

import "github.com/kraftsim/kraftsim/sim/plan"

// Caught is what people call the messages that an action of a plan holds back, "" for an action that catches no kind of message, and for
// a kind that nobody has a name for.
func (c *Catalogue) Caught(a *plan.Action) string {
	if a.Kind != "filter" || c.MessageName == nil {
		return ""
	}
	kind, err := a.Params.Int64("kind", 0)
	if err != nil || kind < 0 || kind > 1<<32-1 {
		return ""
	}
	return c.MessageName(uint32(kind))
}

// inTrace is an action in one line of the trace, with the messages that it catches by their name.
func (c *Catalogue) inTrace(a *plan.Action) string {
	line := c.Registry.FormatAction(a)
	if name := c.Caught(a); name != "" {
		line += " (" + name + ")"
	}
	return line
}
