package room

import (
	crand "crypto/rand" // want `\[random\] import of crypto/rand: `
	"hash/crc32"
	"hash/maphash"        // want `\[maphash\] import of hash/maphash: `
	"math/rand"           // want `\[random\] import of math/rand: `
	randv2 "math/rand/v2" // want `\[random\] import of math/rand/v2: `

	"github.com/google/uuid"
)

func randomness(seed int64) {
	_ = rand.New(rand.NewSource(seed)).Int63()
	_ = randv2.Uint64()
	_, _ = crand.Read(nil)
	_ = maphash.MakeSeed()
	_ = uuid.New()       // want `\[random\] uuid.New: `
	_ = uuid.NewString() // want `\[random\] uuid.NewString: `
}

func identifiers(raw []byte) (uuid.UUID, uint32) {
	id, _ := uuid.FromBytes(raw)
	return id, crc32.ChecksumIEEE(raw)
}
