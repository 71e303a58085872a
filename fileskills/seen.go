package fileskills

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Guard is what must be known of a file before it is replaced or changed: what the
// client has read, or written, in the same session of this Set. It is known by
// content hash, never by time alone.
type Guard uint8

// The guards.
const (
	// GuardChanged refuses, as stale_file, to replace a whole file (write_file,
	// copy_file) that somebody else has changed since the client read it; a file
	// that it has not read may be replaced. Edits name the text that they change,
	// and lose nothing of what others wrote. Of files larger than 1 MiB only what
	// the client wrote itself is known.
	GuardChanged Guard = iota
	GuardOff           // no demand; content is still compared at commit
	GuardWarn          // say in the result that a file was not read, or has changed
	GuardRequire       // stale_file for what was not read or has changed, and for edits, too
)

// maxSeen bounds how many files a Set remembers; beyond it the oldest count
// as not read.
const maxSeen = 10_000

// seen is which content of which file a client knows: what it read, or
// wrote.
type seen struct {
	mu    sync.Mutex
	hash  map[seenFile]string // guarded by mu
	order []seenFile          // of hash, oldest first; guarded by mu
}

// seenFile is a file as one session knows it.
type seenFile struct{ session, place string }

type sessionKey struct{}

// WithSession names the session that calls under the returned context belong to, for
// a Set that serves several: what one has read or written the others do not know.
func WithSession(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, sessionKey{}, id)
}

func (s *seen) note(f seenFile, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hash == nil {
		s.hash = make(map[seenFile]string)
	}
	if _, known := s.hash[f]; !known {
		if len(s.order) == maxSeen {
			delete(s.hash, s.order[0])
			s.order = s.order[1:]
		}
		s.order = append(s.order, f)
	}
	s.hash[f] = hash
}

func (s *seen) get(f seenFile) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hash[f]
}

// move follows a file or directory that the session moved. With to "" it is gone.
func (s *seen) move(session, from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	moved := map[seenFile]string{}
	s.order = slices.DeleteFunc(s.order, func(f seenFile) bool {
		rest, within := beneath(f.place, from)
		_, replaced := beneath(f.place, to)
		if f.session != session || !within && (to == "" || !replaced) {
			return false
		}
		if within && to != "" {
			moved[seenFile{session, to + rest}] = s.hash[f]
		}
		delete(s.hash, f)
		return true
	})
	for f, hash := range moved {
		s.order = append(s.order, f)
		s.hash[f] = hash
	}
}

// beneath is what follows dir in a place that is dir or lies beneath it.
func beneath(place, dir string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(place, dir)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// seenFile is a place as the session of the call knows it.
func (c *call) seenFile(place string) seenFile { return seenFile{c.session(), place} }

func (c *call) session() string {
	id, _ := c.ctx.Value(sessionKey{}).(string)
	return id
}

// known is the hash of the content that the client knows; "" for none.
func (c *call) known(place string) string {
	if c.set.guard == GuardOff {
		return ""
	}
	return c.set.seen.get(c.seenFile(place))
}

// noteRead records that the client knows the content with this hash.
func (c *call) noteRead(place, hash string) {
	if c.set.guard != GuardOff {
		c.set.seen.note(c.seenFile(place), hash)
	}
}

// noteEdit records that the client has changed a part of a file. What others have
// changed in the rest it still does not know.
func (c *call) noteEdit(place, was, now string) {
	if c.set.guard != GuardChanged || c.known(place) == was {
		c.noteRead(place, now)
	}
}

// noteMoved records where a file or directory has gone; to "" is nowhere.
func (c *call) noteMoved(from, to string) {
	if c.set.guard != GuardOff {
		c.set.seen.move(c.session(), from, to)
	}
}

// checkSeen asks the guard whether the file, whose content has this hash, may
// be changed. warning is for the result.
func (c *call) checkSeen(place, hash string) (warning string, err error) {
	if c.set.guard == GuardOff {
		return "", nil
	}
	known := c.known(place)
	if known == hash || known == "" && c.set.guard == GuardChanged {
		return "", nil
	}
	if c.set.guard == GuardWarn {
		if known != "" {
			return fmt.Sprintf("Warning: %s had changed since you read it.", shown(place)), nil
		}
		return fmt.Sprintf("Warning: %s was not read before.", shown(place)), nil
	}
	if known != "" {
		return "", stale(place, known, hash)
	}
	return "", fail(CodeStaleFile, place, "%s was not read before. Nothing was written.", shown(place)).
		hint("Read it first, then try again.")
}

// stale says that a file is not what it was.
func stale(place, was, now string) *Error {
	e := fail(CodeStaleFile, place, "%s changed since you read it (hash %s now %s).", shown(place), brief(was), brief(now))
	e.Data = map[string]any{"was": was, "now": now}
	return e.hint("Read it again; nothing was written.")
}

// brief is the beginning of a hash, for a message.
func brief(hash string) string {
	const digits = 8
	if len(hash) > digits {
		return hash[:digits] + "…"
	}
	if hash == "" {
		return "none: the file is gone"
	}
	return hash
}
