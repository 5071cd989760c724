package room

import "time"

// Test files may do as they like.
var started = time.Now()
