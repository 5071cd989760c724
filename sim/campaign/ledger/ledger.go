package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite" // the driver "sqlite", too
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrInput is what errors wrap that are about a file that cannot be used: another one would do.
var ErrInput = errors.New("ledger: bad input")

// ErrUnknown is returned for a campaign that the file has not.
var ErrUnknown = fmt.Errorf("%w: no such campaign", ErrInput)

// Ledger is an open file of campaigns. It is for one goroutine at a time.
type Ledger struct {
	file string
	db   *sql.DB
	now  func() time.Time
}

// busyWait is how long a transaction waits for those of other processes, which take milliseconds.
const busyWait = 20 * time.Second

// Open opens the file, or makes it and its folder.
func Open(file string) (*Ledger, error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s: %s", ErrInput, file, notRegular)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInput, file, cause(err))
	}
	return open(file, "rwc")
}

const notRegular = "is no regular file: name another one"

// OpenExisting opens a file that must be there. Nothing is written to it before a campaign goes on.
func OpenExisting(file string) (*Ledger, error) {
	switch info, err := os.Stat(file); {
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", ErrInput, file, cause(err))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s: %s", ErrInput, file, notRegular)
	case info.Size() == 0:
		return nil, fmt.Errorf("%w: %s: is empty, and no file of campaigns", ErrInput, file)
	}
	return open(file, "rw")
}

func open(file, mode string) (*Ledger, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInput, file, err)
	}
	query := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyWait.Milliseconds()), "journal_mode(delete)", "synchronous(normal)", "foreign_keys(1)"}}
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInput, file, err)
	}
	db.SetMaxOpenConns(1)
	l := &Ledger{file: file, db: db, now: time.Now}
	if err := l.prepare(); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("%w: %s: %w", ErrInput, file, advised(err))
	}
	return l, nil
}

// prepare makes the tables of a new file, and refuses one that is not of this package.
func (l *Ledger) prepare() error {
	fresh, err := check(l.db)
	if err != nil || !fresh {
		return err
	}
	return l.within(func(tx *sql.Tx) error {
		if fresh, err := check(tx); err != nil || !fresh { // another process may have been faster
			return err
		}
		_, err := tx.Exec(fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d", schema, applicationID, version))
		return err
	})
}

// check reports whether the file has nothing in it yet. An error says why it is no file of campaigns.
func check(db interface {
	QueryRow(query string, args ...any) *sql.Row
}) (fresh bool, err error) {
	var application, tables, have int64
	for _, q := range []struct {
		query string
		value *int64
	}{
		{"PRAGMA application_id", &application}, {"SELECT count(*) FROM sqlite_schema", &tables}, {"PRAGMA user_version", &have},
	} {
		if err := db.QueryRow(q.query).Scan(q.value); err != nil {
			return false, err
		}
	}
	switch {
	case application == 0 && tables == 0:
		return true, nil
	case application != applicationID:
		return false, errors.New("is a database, and no file of campaigns")
	case have != version:
		return false, fmt.Errorf("has format %d, and this program knows %d", have, version)
	}
	return false, nil
}

// within runs f in a transaction: all of it or nothing.
func (l *Ledger) within(f func(tx *sql.Tx) error) error {
	tx, err := l.db.Begin()
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // the error that counts is there already
		return err
	}
	return tx.Commit()
}

// Close closes the file.
func (l *Ledger) Close() error { return l.db.Close() }

// File is the name under which it was opened.
func (l *Ledger) File() string { return l.file }

// advised adds to an error of SQLite what can be done about it.
func advised(err error) error {
	var s *sqlite.Error
	if !errors.As(err, &s) {
		return err
	}
	var advice string
	switch s.Code() & 0xff { // the rest tells where in the library
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		advice = "another program is at work on it: try again when that has ended"
	case sqlite3.SQLITE_READONLY:
		advice = "make it and its folder writable, or name another file"
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL:
		advice = "make room on the disk, or name another file"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		advice = "it is damaged, or no file of campaigns: name another file, or put a copy in its place"
	case sqlite3.SQLITE_CANTOPEN:
		advice = "name a file that can be made and read"
	default:
		return err
	}
	return fmt.Errorf("%w: %s", err, advice)
}

// cause drops operation and path of a file error, which the message names already.
func cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
