package mask

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	figures = "0123456789"
)

// shared is how many bytes in a row a stand-in never has in common with its value.
const shared = 4

// standIn fills out with what stands for value, which is as long. What is all digits
// becomes digits, so that a number has one stand-in in every format.
func standIn(key Key, out, value []byte) {
	for _, b := range value {
		if !isDigit(b) {
			stream(key, "text", out, value, letters)
			out[0] = letterAt(out[0]) // so that YAML and shells take none of it for a number
			apart(out, value, letters)
			return
		}
	}
	digits(key, out, value)
}

// digits fills out with a whole number that has no leading zero.
func digits(key Key, out, value []byte) {
	if len(out) == 0 {
		return
	}
	stream(key, "number", out, value, figures)
	switch {
	case len(out) > 18: // it fits where the number did
		out[0] = '1'
	case out[0] == '0':
		out[0] = '7'
	}
	apart(out, value, figures)
}

// letterAt is a letter for any byte of letters.
func letterAt(b byte) byte {
	if isDigit(b) {
		return 'a' + (b - '0')
	}
	return b
}

// stream fills out from an HMAC of value.
func stream(key Key, label string, out, value []byte, alphabet string) {
	seed := hmac.New(sha256.New, key[:])
	seed.Write([]byte(label + "\x00"))
	seed.Write(value)
	from := seed.Sum(nil)
	var block []byte
	for i, used := 0, 0; i < len(out); used++ {
		if used%sha256.Size == 0 {
			h := hmac.New(sha256.New, from)
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(used)))
			block = h.Sum(nil)
		}
		// Every letter is as likely: what does not divide is left out.
		if b := int(block[used%sha256.Size]); b < 256/len(alphabet)*len(alphabet) {
			out[i] = alphabet[b%len(alphabet)]
			i++
		}
	}
}

// apart changes bytes of out until it shares no four in a row with value.
func apart(out, value []byte, alphabet string) {
	if len(value) < shared {
		return
	}
	in := make(map[[shared]byte]bool, len(value))
	for i := shared; i <= len(value); i++ {
		in[[shared]byte(value[i-shared:i])] = true
	}
	for i := shared; i <= len(out); i++ {
		for try := 0; try < len(alphabet) && in[[shared]byte(out[i-shared:i])]; try++ {
			out[i-1] = alphabet[try]
		}
	}
}
