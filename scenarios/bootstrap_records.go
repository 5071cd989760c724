package scenarios

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
)

// A checkpoint from which a cluster begins may hold any records of the metadata log (metadata-bootstrap 2.6, 3.1): what a tool put there that
// moved a cluster. Here it is what no request of these scenarios writes: client quotas, access control entries, SCRAM credentials and delegation
// tokens, set, changed and removed, so that every replica replays them, and writes and loads snapshots of what is left.

// bootstrapParam says how many there are.
const bootstrapParam = "bootstrap_records"

// extend adds the records to the checkpoint that the format tool left, once.
func (f *formatStep) extend(env *sim.Env) error {
	if f.c.bootstrapRecords == 0 || f.h.kind == kindBroker {
		return nil
	}
	dir := f.h.metadataDir
	now := env.WallMs()
	times := bootstrap.Times{HeaderMs: now, DataMs: now, FooterMs: now}
	whole, err := bootstrap.ReadCheckpoint(env.Files(), dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("scenarios: %w", err)
	}
	if err == nil && len(whole.Entries) > 0 {
		if more := f.more(whole.Entries); more != nil {
			whole.Entries = append(whole.Entries, more...)
			return bootstrap.WriteCheckpoint(env.Files(), dir, whole.AppendTo(nil, times))
		}
		return nil
	}
	content, err := files.Read(env.Files(), bootstrap.Path(dir)) // layout oct24 has the records there
	if err != nil {
		return fmt.Errorf("scenarios: %w", err)
	}
	entries, err := bootstrap.ParseBatchFile(content)
	if err != nil {
		return fmt.Errorf("scenarios: %w", err)
	}
	if more := f.more(entries); more != nil {
		c := bootstrap.Checkpoint{Entries: append(entries, more...)}
		return bootstrap.WriteFile(env.Files(), dir, c.AppendTo(nil, times))
	}
	return nil
}

// more returns what is to be added to a checkpoint, nil when it is there: all of it begins with a quota, of which the tool writes none.
func (f *formatStep) more(have []bootstrap.Entry) []bootstrap.Entry {
	level := int16(0)
	for i := range have {
		switch m := have[i].Record.(type) {
		case *records.ClientQuotaRecord:
			return nil
		case *records.FeatureLevelRecord:
			if m.Name == features.MetadataVersion {
				level = m.FeatureLevel
			}
		}
	}
	s := securityDraw{d: topicDice{base: decide.Combine(uint64(f.c.w.Plan().Seed), decide.HashString(bootstrapParam))}, level: level}
	list := []bootstrap.Entry{{Record: s.quota()}}
	for int64(len(list)) < f.c.bootstrapRecords {
		list = append(list, bootstrap.Entry{Record: s.next()})
	}
	return list
}

// securityDraw draws records of which each can follow on those before: the same ones on every controller of a run.
type securityDraw struct {
	d     topicDice
	level int16
	acls  []record.UUID // that are there
	made  uint64
}

func (s *securityDraw) next() records.Record {
	switch what := s.d.below(10); {
	case what < 3:
		return s.quota()
	case what < 6:
		return s.acl()
	case what < 8 && s.level >= records.UserScramCredentialRecordSince:
		return s.scram()
	case s.level >= records.DelegationTokenRecordSince:
		return s.token()
	}
	return s.quota()
}

// name is one of a few, so that most records meet one that is there.
func (s *securityDraw) name(prefix string) string { return prefix + number(s.d.below(4)) }

func (s *securityDraw) quota() records.Record {
	user := s.name("user-")
	m := &records.ClientQuotaRecord{Entity: []records.EntityData{{EntityType: "user", EntityName: &user}}, Key: "consumer_byte_rate"}
	if s.d.chance(40) {
		m.Entity[0].EntityName = nil // the default of all users
	}
	if s.d.chance(40) {
		client := s.name("client-")
		m.Entity = append(m.Entity, records.EntityData{EntityType: "client-id", EntityName: &client})
	}
	if s.d.chance(30) {
		m.Key = "producer_byte_rate"
	}
	if m.Remove = s.d.chance(25); !m.Remove {
		m.Value = records.Float64Bits(0x4090000000000000 + uint64(s.d.below(1000))<<32) // from 1024 on
	}
	return m
}

func (s *securityDraw) acl() records.Record {
	if n := int64(len(s.acls)); n > 0 && s.d.chance(30) {
		at := s.d.below(n)
		id := s.acls[at]
		s.acls = append(s.acls[:at], s.acls[at+1:]...)
		return &records.RemoveAccessControlEntryRecord{Id: id}
	}
	s.made++
	id := record.UUIDFromHalves(decide.Combine(s.d.base, s.made), s.made)
	s.acls = append(s.acls, id)
	return &records.AccessControlEntryRecord{Id: id, ResourceType: int8(2 + s.d.below(3)), ResourceName: s.name("t-"), PatternType: int8(3 + s.d.below(2)),
		Principal: "User:" + s.name("user-"), Host: "*", Operation: int8(2 + s.d.below(8)), PermissionType: int8(2 + s.d.below(2))}
}

func (s *securityDraw) scram() records.Record {
	user, mechanism := s.name("user-"), int8(1+s.d.below(2))
	if s.d.chance(30) {
		return &records.RemoveUserScramCredentialRecord{Name: user, Mechanism: mechanism}
	}
	secret := func() []byte { return []byte(number(s.d.below(1 << 40))) }
	return &records.UserScramCredentialRecord{Name: user, Mechanism: mechanism, Salt: secret(), StoredKey: secret(), ServerKey: secret(),
		Iterations: int32(4096 + s.d.below(4096))}
}

func (s *securityDraw) token() records.Record {
	id := s.name("token-")
	if s.d.chance(30) {
		return &records.RemoveDelegationTokenRecord{TokenId: id}
	}
	at := 1_700_000_000_000 + s.d.below(1_000_000)
	m := &records.DelegationTokenRecord{Owner: "User:" + s.name("user-"), Requester: "User:" + s.name("user-"), IssueTimestamp: at,
		MaxTimestamp: at + 604_800_000, ExpirationTimestamp: at + s.d.below(86_400_000), TokenId: id}
	for range s.d.below(3) {
		m.Renewers = append(m.Renewers, "User:"+s.name("user-"))
	}
	return m
}
