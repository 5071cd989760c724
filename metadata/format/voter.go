package format

import (
	"cmp"
	"fmt"
	//nodet:allow os netip only parses text, it reaches no network
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/raft/record"
)

// Voter is one item of --initial-controllers: id@host:port:directoryId (metadata-bootstrap 1.4, KIP-853).
type Voter struct {
	NodeID      int32
	Host        string
	Port        uint16
	DirectoryID record.UUID
}

// ParseVoter reads one item.
func ParseVoter(text string) (Voter, error) {
	text = trim(text)
	fail := func(format string, args ...any) (Voter, error) {
		return Voter{}, fmt.Errorf("%w: controller %q: %s", ErrOptions, text, fmt.Sprintf(format, args...))
	}
	id, rest, found := strings.Cut(text, "@")
	if !found {
		return fail("no @ after the node id, want id@host:port:directory-id")
	}
	nodeID, err := strconv.ParseInt(id, 10, 32)
	if err != nil || nodeID < 0 {
		return fail("node id %q is not a number from 0 to 2147483647", id)
	}
	host, rest, err := cutHost(rest)
	if err != nil {
		return fail("%s", err)
	}
	port, directory, found := strings.Cut(rest, ":")
	if !found {
		return fail("no colon after the port, want id@host:port:directory-id")
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil || number < 0 || number > 65535 {
		return fail("port %q is not a number from 0 to 65535", port)
	}
	directoryID, err := record.ParseUUID(directory)
	if err != nil {
		return fail("directory id: %s", err)
	}
	return Voter{NodeID: int32(nodeID), Host: host, Port: uint16(number), DirectoryID: directoryID}, nil
}

// cutHost splits "host:rest" or "[host]:rest".
func cutHost(text string) (host, rest string, err error) {
	if bracketed, ok := strings.CutPrefix(text, "["); ok {
		host, rest, ok = strings.Cut(bracketed, "]")
		if !ok {
			return "", "", fmt.Errorf("host begins with [ and has no ]")
		}
		if rest, ok = strings.CutPrefix(rest, ":"); !ok {
			return "", "", fmt.Errorf("no colon after the host")
		}
		return host, rest, nil
	}
	host, rest, ok := strings.Cut(text, ":")
	if !ok {
		return "", "", fmt.Errorf("no colon after the host, want id@host:port:directory-id")
	}
	return host, rest, nil
}

// ParseVoters reads a whole list and returns it ascending by node id. Empty items are skipped.
func ParseVoters(list string) ([]Voter, error) {
	var voters []Voter
	for _, item := range strings.Split(list, ",") {
		if trim(item) == "" {
			continue
		}
		v, err := ParseVoter(item)
		if err != nil {
			return nil, err
		}
		voters = append(voters, v)
	}
	if len(voters) == 0 {
		return nil, fmt.Errorf("%w: no controllers in %q", ErrOptions, list)
	}
	slices.SortStableFunc(voters, func(a, b Voter) int { return cmp.Compare(a.NodeID, b.NodeID) })
	for i := 1; i < len(voters); i++ {
		if voters[i].NodeID == voters[i-1].NodeID {
			return nil, fmt.Errorf("%w: controller id %d is given more than once", ErrOptions, voters[i].NodeID)
		}
	}
	return voters, nil
}

// trim cuts what Java's String.trim cuts.
func trim(text string) string {
	return strings.TrimFunc(text, func(c rune) bool { return c <= ' ' })
}

// String prints the item so that ParseVoter reads it back.
func (v Voter) String() string {
	host := v.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return fmt.Sprintf("%d@%s:%d:%s", v.NodeID, host, v.Port, v.DirectoryID)
}

// VotersRecord is the voter set as a 0-0.checkpoint holds it: one endpoint each, under the name of the first controller
// listener in upper case, and kraft.version 0 to 1.
func VotersRecord(voters []Voter, listener string) *record.VotersRecord {
	m := &record.VotersRecord{}
	for _, v := range voters {
		m.Voters = append(m.Voters, record.VoterEntry{
			VoterID:             v.NodeID,
			VoterDirectoryID:    v.DirectoryID,
			MaxSupportedVersion: 1,
			Endpoints: []record.VoterEndpoint{{
				Name: strings.ToUpper(listener), Host: recordHost(v.Host), Port: v.Port,
			}},
		})
	}
	return m
}

// recordHost is how Java prints the host of a socket address: names as they are, no name as localhost, IPv6 in full.
func recordHost(host string) string {
	if host == "" {
		return "localhost"
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	address = address.Unmap()
	if address.Is4() {
		return address.String()
	}
	bytes := address.As16()
	var out []byte
	for i := 0; i < 16; i += 2 {
		if i > 0 {
			out = append(out, ':')
		}
		out = strconv.AppendUint(out, uint64(bytes[i])<<8|uint64(bytes[i+1]), 16)
	}
	if zone := address.Zone(); zone != "" {
		out = append(append(out, '%'), zone...)
	}
	return string(out)
}
