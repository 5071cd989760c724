package controller

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// The operations of IncrementalAlterConfigs; every other number is answered INVALID_REQUEST.
const (
	ConfigSet      int8 = 0
	ConfigDelete   int8 = 1
	ConfigAppend   int8 = 2
	ConfigSubtract int8 = 3
)

// maxConfigValue is what the record's readers take.
const maxConfigValue = 32767

// The resource types beyond those that the image looks at.
const (
	clientMetricsResource int8 = 16
	groupResource         int8 = 32
)

// ConfigChange changes one configuration.
type ConfigChange struct {
	Name      string
	Operation int8
	Value     *string // nothing for ConfigDelete
}

// ConfigResource is what is configured: a topic, a broker by its number, all brokers by the empty name.
type ConfigResource struct {
	Type int8
	Name string
}

// ResourceChange is all that one resource gets.
type ResourceChange struct {
	Resource ConfigResource
	Changes  []ConfigChange
}

// IncrementalAlterConfigsRequest changes configurations (KIP-339). A resource that is refused does not stop the others, but gets
// none of its own changes. It is answered with []ConfigResult, in the order of the request.
type IncrementalAlterConfigsRequest struct {
	Resources    []ResourceChange
	ValidateOnly bool
}

// ConfigResult is what came of one resource.
type ConfigResult struct {
	Resource ConfigResource
	Code     ErrorCode
	Message  string
}

// Kind implements Request.
func (*IncrementalAlterConfigsRequest) Kind() OpKind { return IncrementalAlterConfigs }

func (q *IncrementalAlterConfigsRequest) decide(c *Controller, _ int64) error {
	rules := rulesOf(c.timeline.image, &c.cfg.Defaults)
	results := make([]ConfigResult, len(q.Resources))
	var list []records.Record
	for i := range q.Resources {
		x := &q.Resources[i]
		var e answerError
		for k := range q.Resources {
			if k != i && q.Resources[k].Resource == x.Resource {
				e = refusal(InvalidRequest, "resource %q of type %d is in the request more than once", x.Resource.Name, x.Resource.Type)
			}
		}
		before := len(list)
		if !e.failed() {
			list, e = rules.alter(list, x)
		}
		if e.failed() {
			list = list[:before]
		}
		results[i] = ConfigResult{Resource: x.Resource, Code: e.Code, Message: e.Message}
	}
	c.conclude(list, results, q.ValidateOnly)
	return nil
}

// alter appends the records of one resource. What is there already costs no record, but for brokers: files that a value names
// may have new content (KAFKA-14136).
func (r *partitionRules) alter(dst []records.Record, x *ResourceChange) ([]records.Record, answerError) {
	clearsElr := false
	for i := range x.Changes {
		change := &x.Changes[i]
		again := slices.ContainsFunc(x.Changes[:i], func(o ConfigChange) bool { return o.Name == change.Name })
		if again {
			return dst, refusal(InvalidRequest, "configuration %q is there more than once", change.Name)
		}
		key := image.ConfigKey{Type: x.Resource.Type, Resource: x.Resource.Name, Name: change.Name}
		old, found := r.image.Config(key)
		value, e := change.apply(old)
		if e.failed() {
			return dst, e
		}
		same := value == nil && !found || value != nil && found && *value == old
		if same && x.Resource.Type != image.BrokerResource {
			continue
		}
		if e := r.checkChange(x.Resource, change.Name, value); e.failed() {
			return dst, e
		}
		clearsElr = clearsElr || change.Name == minInSyncReplicasName && !same
		dst = append(dst, &records.ConfigRecord{ResourceType: x.Resource.Type, ResourceName: x.Resource.Name, Name: change.Name, Value: value})
	}
	if e := r.checkResource(x.Resource); e.failed() {
		return dst, e
	}
	if clearsElr && r.elr && x.Resource.Type <= image.BrokerResource { // who is eligible was judged by the old number (KIP-966)
		dst = append(dst, &records.ClearElrRecord{TopicName: x.Resource.Name})
	}
	return dst, answerError{}
}

// apply returns the value after the change, nil for none.
func (c *ConfigChange) apply(old string) (*string, answerError) {
	switch {
	case c.Operation == ConfigDelete:
		return nil, answerError{}
	case c.Operation < ConfigSet || c.Operation > ConfigSubtract:
		return nil, refusal(InvalidRequest, "configuration %q: operation %d is none of 0 to 3", c.Name, c.Operation)
	case c.Value == nil:
		return nil, refusal(InvalidRequest, "configuration %q: the value is missing", c.Name)
	case c.Operation == ConfigSet:
		return c.Value, answerError{}
	case !isList(c.Name):
		return nil, refusal(InvalidConfig, "configuration %q is no list, so nothing can be added to it or taken from it", c.Name)
	}
	var items []string
	if old != "" {
		items = strings.Split(old, ",")
	}
	for _, item := range strings.Split(*c.Value, ",") {
		at := slices.Index(items, item)
		switch {
		case c.Operation == ConfigAppend && at < 0:
			items = append(items, item)
		case c.Operation == ConfigSubtract && at >= 0:
			items = slices.Delete(items, at, at+1)
		}
	}
	text := strings.Join(items, ",")
	return &text, answerError{}
}

// isList tells whether a configuration holds a list: those of Kafka's that one usually adds to.
func isList(name string) bool {
	switch name {
	case "cleanup.policy", "leader.replication.throttled.replicas", "follower.replication.throttled.replicas", "listeners",
		"advertised.listeners", "listener.security.protocol.map", "log.cleanup.policy":
		return true
	}
	return false
}

// checkChange judges one new value.
func (r *partitionRules) checkChange(resource ConfigResource, name string, value *string) answerError {
	if problem := checkSetting(name, value); problem != "" {
		return answerError{InvalidConfig, problem}
	}
	if r.elr && name == minInSyncReplicasName && resource.Type == image.BrokerResource {
		switch {
		case resource.Name != "":
			return refusal(InvalidConfig, "%s of a single broker can't be set with eligible leader replicas", name)
		case value == nil:
			return refusal(InvalidConfig, "%s of all brokers can't be taken away with eligible leader replicas", name)
		}
	}
	return answerError{}
}

// checkSetting judges a value by what its name says that it is, as far as the controller itself looks at it: "" for fine.
func checkSetting(name string, value *string) string {
	switch {
	case name == "":
		return "a configuration without name"
	case value == nil:
		return ""
	case len(*value) > maxConfigValue:
		return fmt.Sprintf("the value of configuration %q has %d bytes, the limit is %d", name, len(*value), maxConfigValue)
	case name == minInSyncReplicasName:
		if n, err := strconv.ParseInt(*value, 10, 32); err != nil || n < 1 {
			return fmt.Sprintf("%s is %q, which is no number of at least 1", name, *value)
		}
	case name == uncleanElectionName:
		if *value != leaderlessUnclean && *value != "false" {
			return fmt.Sprintf("%s is %q, which is neither true nor false", name, *value)
		}
	}
	return ""
}

// checkResource tells whether there is what shall be configured.
func (r *partitionRules) checkResource(resource ConfigResource) answerError {
	switch resource.Type {
	case image.TopicResource:
		if r.image.TopicByName(resource.Name) == nil {
			return refusal(UnknownTopicOrPartition, "there is no topic %q", resource.Name)
		}
	case image.BrokerResource:
		if resource.Name == "" {
			return answerError{}
		}
		id, err := strconv.ParseInt(resource.Name, 10, 32)
		if err != nil {
			return refusal(InvalidRequest, "broker %q is no number", resource.Name)
		}
		if r.image.Broker(int32(id)) == nil {
			return refusal(BrokerIDNotRegistered, "broker %d is not registered", id)
		}
	case clientMetricsResource, groupResource:
		if resource.Name == "" {
			return refusal(InvalidRequest, "a resource of type %d without name", resource.Type)
		}
	default:
		return refusal(InvalidRequest, "resource type %d has no configurations here", resource.Type)
	}
	return answerError{}
}
