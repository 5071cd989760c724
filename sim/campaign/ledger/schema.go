package ledger

// applicationID marks the file as one of this package, version is that of the tables.
const (
	applicationID = 0x6b737265
	version       = 1
)

// schema makes the tables. Times are milliseconds: since 1970 in UTC, or lasting.
const schema = `
CREATE TABLE campaigns (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	program    TEXT NOT NULL,
	engine     TEXT NOT NULL,
	build      TEXT NOT NULL,               -- identifies the binary
	command    TEXT NOT NULL,               -- effective configuration, as one command line
	config     TEXT NOT NULL,               -- the same as JSON
	likeness   TEXT NOT NULL,               -- equal in campaigns that can be compared
	started_ms INTEGER NOT NULL,
	ended_ms   INTEGER,
	active_ms  INTEGER NOT NULL DEFAULT 0,  -- of runs, without the time in which it was dead
	state      TEXT NOT NULL,               -- running, done, stopped, interrupted
	summary    TEXT                         -- JSON, as simrun campaign --json prints it
);
CREATE TABLE stages (
	campaign INTEGER NOT NULL REFERENCES campaigns(id),
	stage    INTEGER NOT NULL,
	place    INTEGER NOT NULL,
	scenario TEXT NOT NULL,                 -- empty: the stage has nothing to run
	at       INTEGER NOT NULL,              -- seeds behind the campaign's first one
	count    INTEGER NOT NULL,
	PRIMARY KEY (campaign, stage, place)
) WITHOUT ROWID;
CREATE TABLE batches (
	campaign INTEGER NOT NULL REFERENCES campaigns(id),
	scenario TEXT NOT NULL,
	at       INTEGER NOT NULL,              -- seeds behind the campaign's first one
	count    INTEGER NOT NULL,
	tally    TEXT,                          -- JSON; NULL: left out
	died     INTEGER NOT NULL,
	note     TEXT NOT NULL,
	PRIMARY KEY (campaign, scenario, at)
) WITHOUT ROWID;
CREATE TABLE buckets (
	campaign    INTEGER NOT NULL REFERENCES campaigns(id),
	fingerprint TEXT NOT NULL,
	scenario    TEXT NOT NULL,
	kind        TEXT NOT NULL,              -- finding, hazard, canary
	runs        INTEGER NOT NULL,           -- that showed it
	out_of      INTEGER NOT NULL,           -- runs of the scenario
	first_seed  TEXT NOT NULL,              -- decimal: seeds have 64 bits without a sign
	capsule     TEXT NOT NULL,              -- of the shortest plan, of any scenario
	PRIMARY KEY (campaign, fingerprint, scenario)
) WITHOUT ROWID;
CREATE INDEX likeness ON campaigns(likeness, id);
CREATE INDEX fingerprint ON buckets(fingerprint, campaign);
`
