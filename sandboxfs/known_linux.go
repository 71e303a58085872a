package sandboxfs

import "hash/maphash"

// maxKnown is how many operations that were refused at once are remembered.
const maxKnown = 4096

// known are the operations that were refused at once, the last of them.
type known struct {
	keys   map[uint64]bool
	oldest []uint64 // a ring of the same
	next   int
}

func (k *known) has(key uint64) bool { return k.keys[key] }

// add adds a key that is not there, and drops the oldest if there are too many.
func (k *known) add(key uint64) {
	if k.keys == nil {
		k.keys = map[uint64]bool{}
	}
	k.keys[key] = true
	if len(k.oldest) < maxKnown {
		k.oldest = append(k.oldest, key)
		return
	}
	delete(k.keys, k.oldest[k.next])
	k.oldest[k.next] = key
	k.next = (k.next + 1) % maxKnown
}

// seed is that of all keys.
var seed = maphash.MakeSeed()

// key is the same for the same operation, and with luck for that alone: another
// one would be put to Ask without having been refused first.
func (q *AskRequest) key() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(q.Syscall) // never fails
	for _, a := range q.Accesses {
		_, _ = h.WriteString("\x00" + string(a.Action) + "\x00" + a.Resource)
	}
	return h.Sum64()
}
