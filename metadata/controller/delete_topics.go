package controller

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// DeleteTopicsRequest deletes topics, by id or by name (metadata-bootstrap 7.6). It is answered with []TopicResult: first those
// named, then those by id, in the order of the request.
type DeleteTopicsRequest struct {
	Names []string
	IDs   []record.UUID
	Quota *MutationQuota // nil: none
}

// Kind implements Request.
func (*DeleteTopicsRequest) Kind() OpKind { return DeleteTopics }

func (q *DeleteTopicsRequest) decide(c *Controller, _ int64) error {
	img := c.timeline.image
	results := make([]TopicResult, 0, len(q.Names)+len(q.IDs))
	asked := make([]record.UUID, 0, len(q.Names)+len(q.IDs))
	for _, name := range q.Names {
		r := TopicResult{Name: name}
		if t := img.TopicByName(name); t != nil {
			r.ID = t.ID
			asked = append(asked, t.ID)
		} else {
			r.fail(refusal(UnknownTopicOrPartition, "there is no topic %q", name))
		}
		results = append(results, r)
	}
	for _, id := range q.IDs {
		r := TopicResult{ID: id}
		if t := img.TopicByID(id); t != nil {
			r.Name = t.Name
			asked = append(asked, id)
		} else {
			r.fail(refusal(UnknownTopicID, "there is no topic with id %s", id))
		}
		results = append(results, r)
	}
	slices.SortStableFunc(asked, func(a, b record.UUID) int { return slices.Compare(a[:], b[:]) })
	var list []records.Record
	for i := range results {
		r := &results[i]
		if r.Code != None {
			continue
		}
		at, _ := slices.BinarySearchFunc(asked, r.ID, func(a, b record.UUID) int { return slices.Compare(a[:], b[:]) })
		if at+1 < len(asked) && asked[at+1] == r.ID {
			r.fail(refusal(InvalidRequest, "topic %s is in the request more than once", r.ID))
			continue
		}
		count := img.PartitionCount(r.ID)
		if e := q.Quota.take(int64(count)); e.failed() {
			r.fail(e)
			continue
		}
		r.Partitions = count
		list = append(list, &records.RemoveTopicRecord{TopicId: r.ID})
	}
	c.conclude(list, results, false)
	return nil
}
