// Command mainpkg is never part of a room, not even where a room's tree holds it.
package main

import "time"

func main() { _ = time.Now() }
