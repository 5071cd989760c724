package ledger

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/kraftsim/kraftsim/sim/campaign"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Journal is one campaign that is being written. It is a campaign.Store.
type Journal struct {
	ledger *Ledger
	id     int64
}

// keepBatches is of how many campaigns the batches are kept once they have ended: a few megabytes each, which only a merge needs then.
const keepBatches = 10

// Begin enters a new campaign. It sets the entry's Started and State. Of campaigns that have ended long ago it drops the batches, not
// what they came to.
func (l *Ledger) Begin(e Entry) (*Journal, error) {
	j := &Journal{ledger: l}
	err := l.within(func(tx *sql.Tx) error {
		for _, table := range []string{"batches", "stages"} {
			if _, err := tx.Exec("DELETE FROM "+table+` WHERE campaign IN (SELECT id FROM campaigns WHERE state IN (?, ?) AND
				id <= (SELECT max(id) FROM campaigns) - ?)`, Done, Stopped, keepBatches); err != nil {
				return err
			}
		}
		result, err := tx.Exec(`INSERT INTO campaigns (program, engine, build, command, config, likeness, started_ms, state)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			e.Program, e.Engine, e.Build, e.Command, e.Config, e.Likeness, l.now().UnixMilli(), Running)
		if err == nil {
			j.id, err = result.LastInsertId()
		}
		return err
	})
	if err != nil {
		return nil, l.failed(err)
	}
	return j, nil
}

// ID is the number of the campaign in its file.
func (j *Journal) ID() int64 { return j.id }

// Decide keeps what a stage is to run.
func (j *Journal) Decide(stage int64, ranges []campaign.Range) error {
	if len(ranges) == 0 {
		ranges = []campaign.Range{{}} // decided, and nothing
	}
	return j.ledger.failed(j.ledger.within(func(tx *sql.Tx) error {
		for i, r := range ranges {
			if _, err := tx.Exec("INSERT INTO stages VALUES (?, ?, ?, ?, ?, ?)", j.id, stage, i, r.Scenario, r.At, r.Count); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Done keeps batches.
func (j *Journal) Done(batches []campaign.Batch, active time.Duration) error {
	return j.ledger.failed(j.ledger.within(func(tx *sql.Tx) error {
		for i := range batches {
			if err := j.insert(tx, &batches[i]); err != nil {
				return err
			}
		}
		_, err := tx.Exec("UPDATE campaigns SET active_ms = ?, state = ? WHERE id = ?", active.Milliseconds(), Running, j.id)
		return err
	}))
}

func (j *Journal) insert(tx *sql.Tx, b *campaign.Batch) error {
	var tally any // NULL for what was left out
	if b.Tally != nil {
		text, err := json.Marshal(b.Tally)
		if err != nil {
			return err
		}
		tally = string(text)
	}
	_, err := tx.Exec("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?)", j.id, b.Scenario, b.At, b.Count, tally, b.Died, b.Note)
	var refused *sqlite.Error
	if errors.As(err, &refused) && refused.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY {
		return fmt.Errorf("%s, %d seeds at %d: another process is at this campaign, and has kept them", b.Scenario, b.Count, b.At)
	}
	return err
}

// End keeps what the campaign came to.
func (j *Journal) End(s *campaign.Summary) error {
	state := Done
	switch {
	case s.Interrupted, s.Missing > 0 && s.Stopped == "":
		state = Interrupted
	case s.Stopped != "":
		state = Stopped
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("ledger: encode summary: %w", err)
	}
	return j.ledger.failed(j.ledger.within(func(tx *sql.Tx) error {
		if _, err := tx.Exec("UPDATE campaigns SET ended_ms = ?, active_ms = ?, state = ?, summary = ? WHERE id = ?",
			j.ledger.now().UnixMilli(), s.RunMs, state, string(text), j.id); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM buckets WHERE campaign = ?", j.id); err != nil { // of an end before it went on
			return err
		}
		for _, b := range buckets(s) {
			if _, err := tx.Exec("INSERT INTO buckets VALUES (?, ?, ?, ?, ?, ?, ?, ?)", append([]any{j.id}, b...)...); err != nil {
				return err
			}
		}
		return nil
	}))
}

// buckets lists the rows of a summary: the values behind the campaign's id.
func buckets(s *campaign.Summary) (rows [][]any) {
	add := func(kind string, b *campaign.Bucket) {
		capsule := ""
		if b.Shortest != nil {
			capsule = b.Shortest.Capsule
		}
		for i, scenario := range b.Scenarios {
			rows = append(rows, []any{b.Fingerprint, scenario, kind, b.ScenarioRuns[i], b.ScenarioOutOf[i],
				strconv.FormatUint(b.ScenarioFirst[i], 10), capsule})
		}
	}
	for i := range s.Findings {
		add("finding", &s.Findings[i])
	}
	for i := range s.Hazards {
		if b := s.Hazards[i].Bucket; b != nil {
			add("hazard", b)
		}
	}
	if c := s.Canary; c != nil {
		rows = append(rows, []any{c.Fingerprint, c.Scenario, "canary", c.Runs, c.OutOf, "", ""})
	}
	return rows
}

// Resume returns a campaign to go on with, and what is done of it. One that has come to its end has a Summary, and nothing to run.
func (l *Ledger) Resume(id int64) (*Journal, Entry, campaign.Past, error) {
	e, err := l.Find(id)
	if err != nil {
		return nil, e, campaign.Past{}, err
	}
	past := campaign.Past{Active: e.Active}
	if past.Stages, err = l.stages(id); err != nil {
		return nil, e, past, err
	}
	if past.Batches, err = l.batches(id); err != nil {
		return nil, e, past, err
	}
	return &Journal{ledger: l, id: id}, e, past, nil
}

func (l *Ledger) stages(id int64) (stages [][]campaign.Range, err error) {
	rows, err := l.db.Query("SELECT stage, scenario, at, count FROM stages WHERE campaign = ? ORDER BY stage, place", id)
	if err != nil {
		return nil, l.unreadable(err)
	}
	defer func() { _ = rows.Close() }() // it was only read
	for rows.Next() {
		var stage int
		var r campaign.Range
		if err := rows.Scan(&stage, &r.Scenario, &r.At, &r.Count); err != nil {
			return nil, l.unreadable(err)
		}
		if stage == len(stages) {
			stages = append(stages, nil)
		}
		if stage != len(stages)-1 {
			return nil, fmt.Errorf("%w: %s: campaign %d lacks stage %d", ErrInput, l.file, id, len(stages))
		}
		if r.Scenario != "" {
			stages[stage] = append(stages[stage], r)
		}
	}
	return stages, l.unreadable(rows.Err())
}

func (l *Ledger) batches(id int64) (list []campaign.Batch, err error) {
	rows, err := l.db.Query("SELECT scenario, at, count, tally, died, note FROM batches WHERE campaign = ? ORDER BY scenario, at", id)
	if err != nil {
		return nil, l.unreadable(err)
	}
	defer func() { _ = rows.Close() }() // it was only read
	for rows.Next() {
		var b campaign.Batch
		var tally sql.NullString
		if err := rows.Scan(&b.Scenario, &b.At, &b.Count, &tally, &b.Died, &b.Note); err != nil {
			return nil, l.unreadable(err)
		}
		if tally.Valid {
			b.Tally = new(campaign.Tally)
			if err := json.Unmarshal([]byte(tally.String), b.Tally); err != nil {
				return nil, fmt.Errorf("%w: %s: tally of %s at %d: %w", ErrInput, l.file, b.Scenario, b.At, err)
			}
		}
		list = append(list, b)
	}
	return list, l.unreadable(rows.Err())
}
