package broker

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// newID is a UUID of version 7 (RFC 9562, 5.7): in order of time, and with 74
// random bits, which nobody guesses.
func newID(now time.Time) string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // it never fails
	ms := uint64(now.UnixMilli())
	binary.BigEndian.PutUint16(u[0:], uint16(ms>>32))
	binary.BigEndian.PutUint32(u[2:], uint32(ms))
	u[6] = 0x70 | u[6]&0x0f
	u[8] = 0x80 | u[8]&0x3f
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
