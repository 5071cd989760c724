package campaign

// PartOf is the part of n seeds that a shard has.
func PartOf(s Shard, n int64) Range { return s.part(n) }
