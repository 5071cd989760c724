package image

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/raft/record"
)

// The texts of values in a Difference.

func number(n int32) string { return strconv.FormatInt(int64(n), 10) }
func long(n int64) string   { return strconv.FormatInt(n, 10) }

func yesNo(set bool) string {
	if set {
		return "yes"
	}
	return "no"
}

// named is a text that may be missing.
func named(text string) string {
	if text == "" {
		return absent
	}
	return text
}

func producer(next int64) string {
	if next == noProducerID {
		return absent
	}
	return long(next)
}

func rack(b *Broker) string {
	if !b.HasRack {
		return absent
	}
	return strconv.Quote(b.Rack)
}

// joined lists texts with a blank between them, "none" for an empty list.
func joined[T any](list []T, text func(T) string) string {
	if len(list) == 0 {
		return "none"
	}
	words := make([]string, len(list))
	for at := range list {
		words[at] = text(list[at])
	}
	return strings.Join(words, " ")
}

func uuids(list []record.UUID) string { return joined(list, record.UUID.String) }

func endpoint(e Endpoint) string {
	return fmt.Sprintf("%s://%s:%d/%d", e.Name, e.Host, e.Port, e.SecurityProtocol)
}

func featureRange(f FeatureRange) string {
	return fmt.Sprintf("%s=%d-%d", f.Name, f.Minimum, f.Maximum)
}

// resource is what a configuration entry applies to, in words.
func (k ConfigKey) resource() string {
	kind := map[int8]string{TopicResource: "topic", BrokerResource: "broker", 8: "broker logger", 16: "client metrics", 32: "group"}[k.Type]
	switch {
	case kind == "":
		return fmt.Sprintf("resource %d %s", k.Type, k.Resource)
	case k.Resource == "" && k.Type == BrokerResource:
		return "all brokers"
	}
	return kind + " " + k.Resource
}

// entityText is what a quota applies to, in words: "user u, client-id default".
func entityText(e QuotaEntity) string {
	var words []string
	for _, p := range e.Parts() {
		name := "default"
		if p.EntityName != nil {
			name = *p.EntityName
		}
		words = append(words, p.EntityType+" "+name)
	}
	return strings.Join(words, ", ")
}

func aclResource(a *ACL) string {
	return fmt.Sprintf("type %d, pattern %d, name %s", a.ResourceType, a.PatternType, a.ResourceName)
}

func aclRule(a *ACL) string {
	return fmt.Sprintf("principal %s, host %s, operation %d, permission %d", a.Principal, a.Host, a.Operation, a.PermissionType)
}

func sameSecrets(a, b *ScramCredential) bool {
	return bytes.Equal(a.Salt, b.Salt) && bytes.Equal(a.StoredKey, b.StoredKey) && bytes.Equal(a.ServerKey, b.ServerKey)
}
