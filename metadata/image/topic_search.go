package image

import "iter"

// TopicsFrom yields the topics whose name is not below the given one, ascending by name.
func (i *Image) TopicsFrom(name string) iter.Seq[*Topic] {
	return func(yield func(*Topic) bool) {
		for e := range i.topicsByName.From(textKey(name)) {
			if !yield(&e.Value) {
				return
			}
		}
	}
}
