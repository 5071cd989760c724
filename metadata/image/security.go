package image

import (
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// ScramCredential is the stored form of one user's secret under one mechanism (KIP-900). Immutable once made.
type ScramCredential struct {
	Salt, StoredKey, ServerKey []byte
	Iterations                 int32
}

// ACL is one access control entry.
type ACL struct {
	ID             record.UUID
	ResourceType   int8
	ResourceName   string
	PatternType    int8
	Principal      string
	Host           string
	Operation      int8
	PermissionType int8
}

// Token is one delegation token. Immutable once an image has it.
type Token struct {
	ID                    string
	Owner, Requester      string
	Renewers              []string
	IssueTimestampMs      int64
	MaxTimestampMs        int64
	ExpirationTimestampMs int64
}

func scramOf(m *records.UserScramCredentialRecord) ScramCredential {
	return ScramCredential{Salt: m.Salt, StoredKey: m.StoredKey, ServerKey: m.ServerKey, Iterations: m.Iterations}
}

func (c *ScramCredential) toRecord(key ScramKey) *records.UserScramCredentialRecord {
	return &records.UserScramCredentialRecord{
		Name: key.User, Mechanism: key.Mechanism, Salt: c.Salt, StoredKey: c.StoredKey, ServerKey: c.ServerKey,
		Iterations: c.Iterations,
	}
}

func aclOf(m *records.AccessControlEntryRecord) ACL {
	return ACL{
		ID: m.Id, ResourceType: m.ResourceType, ResourceName: m.ResourceName, PatternType: m.PatternType,
		Principal: m.Principal, Host: m.Host, Operation: m.Operation, PermissionType: m.PermissionType,
	}
}

func (a *ACL) toRecord() *records.AccessControlEntryRecord {
	return &records.AccessControlEntryRecord{
		Id: a.ID, ResourceType: a.ResourceType, ResourceName: a.ResourceName, PatternType: a.PatternType,
		Principal: a.Principal, Host: a.Host, Operation: a.Operation, PermissionType: a.PermissionType,
	}
}

func tokenOf(m *records.DelegationTokenRecord) Token {
	return Token{
		ID: m.TokenId, Owner: m.Owner, Requester: m.Requester, Renewers: full(m.Renewers),
		IssueTimestampMs: m.IssueTimestamp, MaxTimestampMs: m.MaxTimestamp, ExpirationTimestampMs: m.ExpirationTimestamp,
	}
}

func (t *Token) toRecord() *records.DelegationTokenRecord {
	return &records.DelegationTokenRecord{
		TokenId: t.ID, Owner: t.Owner, Requester: t.Requester, Renewers: t.Renewers, IssueTimestamp: t.IssueTimestampMs,
		MaxTimestamp: t.MaxTimestampMs, ExpirationTimestamp: t.ExpirationTimestampMs,
	}
}
