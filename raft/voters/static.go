package voters

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrStaticVoters is wrapped by every error of ParseStatic.
var ErrStaticVoters = errors.New("voters: bad controller.quorum.voters")

// ParseStatic reads the value of controller.quorum.voters, a list of id@host:port. Each voter gets one endpoint
// named after the first controller listener, no directory id, and the kraft.version range 0 to 0
// (kraft-protocol 5.1). The empty string is the empty set. Errors name the entry.
func ParseStatic(list, listener string) (*Set, error) {
	var entries []Voter
	if list == "" {
		return New()
	}
	for _, entry := range strings.Split(list, ",") {
		v, err := parseEntry(strings.TrimSpace(entry), listener)
		if err != nil {
			return nil, err
		}
		entries = append(entries, v)
	}
	s, err := New(entries...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStaticVoters, err)
	}
	return s, nil
}

// parseEntry reads one id@host:port.
func parseEntry(entry, listener string) (Voter, error) {
	idText, address, found := strings.Cut(entry, "@")
	if !found {
		return Voter{}, fmt.Errorf("%w: %q is not id@host:port", ErrStaticVoters, entry)
	}
	id, err := strconv.ParseInt(idText, 10, 32)
	if err != nil || id < 0 {
		return Voter{}, fmt.Errorf("%w: %q has no valid id", ErrStaticVoters, entry)
	}
	host, port, err := ParseAddress(address)
	if err != nil {
		return Voter{}, fmt.Errorf("%w: %q: %w", ErrStaticVoters, entry, err)
	}
	return Voter{
		ReplicaKey: ReplicaKey{ID: int32(id)},
		Endpoints:  []Endpoint{{Name: listener, Host: host, Port: port}},
	}, nil
}

// ParseAddress reads host:port; an IPv6 host stands in brackets, which are dropped.
func ParseAddress(address string) (host string, port uint16, err error) {
	colon := strings.LastIndexByte(address, ':')
	if colon <= 0 {
		return "", 0, fmt.Errorf("voters: %q is not host:port", address)
	}
	p, err := strconv.ParseUint(address[colon+1:], 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("voters: %q has no valid port", address)
	}
	host = address[:colon]
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	return host, uint16(p), nil
}
