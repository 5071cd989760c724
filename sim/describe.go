package sim

// Description is what an observation means to somebody who reads about it: for histories, stories and viewers. It is made when a
// run is recorded, never in a campaign, and changes nothing.
type Description struct {
	Text   string // one line in place of that of String; "": String stays
	Weight Weight
	Facets []Facet
	Claim  Claim
	name   func(node int32) string
}

// Name is the id of the host on which a node runs, or "node 7" when none or several have that number. Which host has which number
// Catalogue.NodeOf knows.
func (d *Description) Name(node int32) string { return d.name(node) }

// NewDescription returns an empty description that names nodes by a function.
func NewDescription(name func(node int32) string) *Description { return &Description{name: name} }

// Facet adds that something is true of the host from here on.
func (d *Description) Facet(name, value string) {
	d.Facets = append(d.Facets, Facet{Name: name, Value: value})
}

// Facet is one property of a host by name: "role", "epoch", "leader", "high-watermark", "log-end". An empty value takes it back.
type Facet struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Weight says how much an event matters to somebody who reads only a few.
type Weight uint8

// The weights.
const (
	Noise   Weight = iota // a fetch that brought nothing
	Detail                // an append, a raised high watermark
	Turning               // a role, a vote, a crash, a cut, an action
)

// Topics that stories give a meaning of their own; all others are the program's. A program claims TopicAppend and TopicHolds, the
// rest are claims that a history makes itself, which a premise may name.
const (
	TopicAppend   = "append"         // the host has the records From to To, perhaps not on its disk yet
	TopicHolds    = "holds"          // the host takes for granted that About has the records below To
	TopicRecover  = "recover"        // what the host found on its disk when it started
	TopicFlush    = "flush"          // an fsync made the records From to To durable
	TopicNameless = "flush-nameless" // the same, in a file whose name no fsync of its directory made durable
	TopicLost     = "lost"           // a power loss or a fault took records, or the content of a file, from the disk
	TopicDown     = "down"           // the process ended
	TopicBoot     = "boot"           // it started again
)

// Claim is what a host does or holds to be true from an event on, as a clause of a story.
type Claim struct {
	Topic  string `json:"topic"`           // what it is about, in one word: "leader", "vote". A later one of the host and epoch replaces it
	Clause string `json:"clause"`          // with the host as its subject: "becomes leader of epoch 3"
	Epoch  int32  `json:"epoch,omitempty"` // that it speaks of; 0: none
	From   int64  `json:"from,omitempty"`  // offsets that it speaks of, From below To; 0 and 0: none
	To     int64  `json:"to,omitempty"`
	About  string `json:"about,omitempty"` // another host that it speaks of
	// Because are the claims that this one stands on: a story goes from the one to the others.
	Because []Premise `json:"because,omitempty"`
}

// Premise names a claim that another one stands on: of what happened before that, the latest that matches.
type Premise struct {
	Topics string `json:"topics"`          // any of these, comma separated
	Host   string `json:"host"`            // who made it: a host, Self, or Others for the latest of each other host
	About  string `json:"about,omitempty"` // the host that it speaks of, Self, or "" for any
	Epoch  int32  `json:"epoch,omitempty"` // that it speaks of; 0: any
	Offset int64  `json:"offset"`          // that is among those that it speaks of; -1: any
	// Fold is how the claim is told inside of the line of the one that stands on it, with %s for its host: "with the vote of %s".
	// "" gives it a line of its own.
	Fold string `json:"fold,omitempty"`
	// Durable: who stands on it takes for granted that it was flushed.
	Durable bool `json:"durable,omitempty"`
}

// Who a premise is about.
const (
	Self   = "self"
	Others = "others"
)

// Stands adds a premise of the claim.
func (d *Description) Stands(p Premise) { d.Claim.Because = append(d.Claim.Because, p) }

// Describer is an observation that can say what it means. Describe is called when the observation takes effect.
type Describer interface {
	Describe(d *Description)
}

// StateDescriber is a process that can say what it knows: its role, its log, what waits in it, in the order in which people want to
// read it. It is called between two handlers and must change nothing.
type StateDescriber interface {
	DescribeState() []Facet
}

// Decoded is a unit of a file's content: a record of a log, or the whole of a small file.
type Decoded struct {
	Offset int64 // of a record; -1: not of a log
	Epoch  int32
	// End is where the unit ends in the bytes that were decoded. Of several records that only exist together (a batch) all have
	// the end of the last.
	End  int64
	Text string
}
