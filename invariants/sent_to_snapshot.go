package invariants

// snapshotOffered follows a follower to a snapshot, as it is sent there or as it learns of it.
func (c *core) snapshotOffered(r *replica, offset int64, sent bool) {
	if sent {
		*c.times.sentToSnapshot++
		return
	}
	if r.download >= 0 {
		c.downloadBroken(r)
	}
	r.download = offset
}

// downloadBroken is the end of a download before its time.
func (c *core) downloadBroken(r *replica) {
	*c.times.downloadBroken++
	r.download = -1
}
