package ledger

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/kraftsim/kraftsim/sim/campaign"
)

// State is how far a campaign is.
type State string

// The states. Running is also that of a campaign that was killed.
const (
	Running     State = "running"
	Done        State = "done"
	Stopped     State = "stopped"
	Interrupted State = "interrupted"
)

// Entry is a campaign in the list.
type Entry struct {
	ID       int64         `json:"id"`
	Program  string        `json:"program"`
	Engine   string        `json:"engine"`
	Build    string        `json:"build"`
	Command  string        `json:"command"`  // effective configuration, as one command line
	Config   string        `json:"config"`   // the same, in words of the program that wrote it
	Likeness string        `json:"likeness"` // equal in campaigns that can be compared
	Started  time.Time     `json:"started"`
	Ended    time.Time     `json:"ended,omitzero"`
	Active   time.Duration `json:"active_ns"`
	State    State         `json:"state"`
	Runs     int64         `json:"runs"` // that are done
	// Summary is what it came to; nil while it has not ended.
	Summary *campaign.Summary `json:"-"`
}

const selectEntry = `SELECT id, program, engine, build, command, config, likeness, started_ms, coalesce(ended_ms, 0), active_ms, state,
	coalesce(summary, ''), coalesce((SELECT sum(count) FROM batches WHERE campaign = id AND tally IS NOT NULL), 0) FROM campaigns `

func (l *Ledger) entries(where string, args ...any) (list []Entry, err error) {
	rows, err := l.db.Query(selectEntry+where, args...)
	if err != nil {
		return nil, l.unreadable(err)
	}
	defer func() { _ = rows.Close() }() // it was only read
	for rows.Next() {
		var e Entry
		var started, ended, active int64
		var summary string
		if err := rows.Scan(&e.ID, &e.Program, &e.Engine, &e.Build, &e.Command, &e.Config, &e.Likeness, &started, &ended, &active,
			&e.State, &summary, &e.Runs); err != nil {
			return nil, l.unreadable(err)
		}
		e.Started, e.Active = time.UnixMilli(started).UTC(), time.Duration(active)*time.Millisecond
		if ended != 0 {
			e.Ended = time.UnixMilli(ended).UTC()
		}
		if summary != "" {
			e.Summary = new(campaign.Summary)
			if err := json.Unmarshal([]byte(summary), e.Summary); err != nil {
				return nil, fmt.Errorf("%w: %s: summary of campaign %d: %w: the file is damaged: put a copy in its place", ErrInput, l.file, e.ID, err)
			}
			e.Runs = max(e.Runs, e.Summary.Runs) // its batches may be gone
		}
		list = append(list, e)
	}
	return list, l.unreadable(rows.Err())
}

func (l *Ledger) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("ledger: %s: %w", l.file, advised(err))
}

// unreadable is failed for what was only read: then the file is to blame, which is damaged or not of this package.
func (l *Ledger) unreadable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: cannot be read: %w", ErrInput, l.file, advised(err))
}

// List returns all campaigns, the oldest first.
func (l *Ledger) List() ([]Entry, error) { return l.entries("ORDER BY id") }

// Find returns a campaign.
func (l *Ledger) Find(id int64) (Entry, error) {
	return l.one(fmt.Sprintf("%d", id), "WHERE id = ?", id)
}

// Last returns the campaign that began last.
func (l *Ledger) Last() (Entry, error) { return l.one("last", "ORDER BY id DESC LIMIT 1") }

func (l *Ledger) one(name, where string, args ...any) (Entry, error) {
	list, err := l.entries(where, args...)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: %s: %s", ErrUnknown, l.file, name)
	}
	if err != nil {
		return Entry{}, err
	}
	return list[0], nil
}

// Before returns the last campaign before this one that is like it and came to its end; nil when there is none.
func (l *Ledger) Before(id int64, likeness string) (*Entry, error) {
	list, err := l.entries("WHERE likeness = ? AND id < ? AND summary IS NOT NULL AND state IN (?, ?) ORDER BY id DESC LIMIT 1",
		likeness, id, Done, Stopped)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// Seen is how often a failure was seen in a scenario.
type Seen struct {
	Campaign    int64  `json:"campaign"`
	Fingerprint string `json:"fingerprint"`
	Scenario    string `json:"scenario"`
	campaign.Rate
}

// LastSeen returns the last campaign that saw a failure in a scenario, under whatever profile; nil when none did.
func (l *Ledger) LastSeen(fingerprint, scenario string) (*Seen, error) {
	s := &Seen{Fingerprint: fingerprint, Scenario: scenario}
	var runs, outOf int64
	err := l.db.QueryRow(`SELECT campaign, scenario, runs, out_of FROM buckets WHERE fingerprint = ? AND kind <> 'canary' AND
		(scenario = ? OR substr(scenario, 1, length(?) + 1) = ? || '@') ORDER BY campaign DESC LIMIT 1`, fingerprint, scenario, scenario,
		scenario).Scan(&s.Campaign, &s.Scenario, &runs, &outOf)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	s.Rate = campaign.NewRate(runs, outOf)
	return s, l.unreadable(err)
}
