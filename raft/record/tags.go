package record

// TaggedField is a field of a tagged section that the schema in hand does not know. Readers keep them and writers put
// them back, so that bytes of a newer release survive a round trip (formats.md 1, KIP-482).
type TaggedField struct {
	Tag  uint32
	Data []byte // a view of the bytes that were read
}

// UnknownTags reads a whole tagged section of a struct that knows no tags. Like Kafka's readers it does not insist on
// the order.
func (r *Reader) UnknownTags() []TaggedField {
	n := r.Uvarint()
	if r.err != nil || n == 0 {
		return nil
	}
	if int64(n) > int64(r.Remaining())/2 { // a field takes two bytes at least
		r.Fail(ErrTruncated)
		return nil
	}
	tags := make([]TaggedField, 0, n)
	for ; n > 0 && r.err == nil; n-- {
		tags = append(tags, r.TaggedField())
	}
	if r.err != nil {
		return nil
	}
	return tags
}

// TaggedField reads one field of a tagged section: its tag, and a view of its payload.
func (r *Reader) TaggedField() TaggedField {
	tag := r.Uvarint()
	size := r.Uvarint()
	if size > 1<<31-1 {
		r.Fail(ErrMalformed)
	}
	return TaggedField{Tag: tag, Data: r.Raw(int32(size))}
}

// AppendUnknownTags appends a tagged section that holds just these fields, in the order given; nil gives the empty
// section.
func AppendUnknownTags(dst []byte, tags []TaggedField) []byte {
	dst = AppendUvarint(dst, uint32(len(tags)))
	for i := range tags {
		dst = AppendTaggedField(dst, tags[i].Tag, tags[i].Data)
	}
	return dst
}

// AppendTaggedField appends one field of a tagged section.
func AppendTaggedField(dst []byte, tag uint32, payload []byte) []byte {
	dst = AppendUvarint(dst, tag)
	dst = AppendUvarint(dst, uint32(len(payload)))
	return append(dst, payload...)
}
