package controller

import (
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/image"
)

// maxTopicName is the length that file systems bear beside what is added to a topic's name.
const maxTopicName = 249

// clusterMetadataTopic is raft's own log, which no client may create.
const clusterMetadataTopic = "__cluster_metadata"

// checkTopicName returns what is wrong with the name of a new topic, "" for nothing.
func checkTopicName(name string) string {
	switch {
	case name == "":
		return "a topic name must not be empty"
	case name == "." || name == "..":
		return fmt.Sprintf("a topic name must not be %q", name)
	case len(name) > maxTopicName:
		return fmt.Sprintf("a topic name of %d characters is longer than %d", len(name), maxTopicName)
	}
	for i := range len(name) {
		switch b := name[i]; {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '.', b == '_', b == '-':
		default:
			return fmt.Sprintf("topic name %q has characters other than letters, digits, '.', '_' and '-'", name)
		}
	}
	return ""
}

// collidingTopic returns an existing topic whose name differs from name by '.' and '_' only: metrics can't tell them apart. ""
// for none. Cost: O(log n) for each existing way to begin the name, whatever the number of topics.
func collidingTopic(img *image.Image, name string) string {
	if !strings.ContainsAny(name, "._") {
		return ""
	}
	return collidingFrom(img, []byte(name), 0)
}

// collidingFrom tries both signs at each place from at on, and goes on with those beginnings only that a topic has.
func collidingFrom(img *image.Image, name []byte, at int) string {
	for ; at < len(name); at++ {
		if name[at] == '.' || name[at] == '_' {
			break
		}
	}
	if at == len(name) {
		if t := img.TopicByName(string(name)); t != nil {
			return t.Name
		}
		return ""
	}
	own := name[at]
	defer func() { name[at] = own }()
	for _, sign := range [2]byte{'.', '_'} {
		name[at] = sign
		if !beginsTopic(img, string(name[:at+1])) {
			continue
		}
		if found := collidingFrom(img, name, at+1); found != "" {
			return found
		}
	}
	return ""
}

func beginsTopic(img *image.Image, prefix string) bool {
	for t := range img.TopicsFrom(prefix) {
		return strings.HasPrefix(t.Name, prefix)
	}
	return false
}
