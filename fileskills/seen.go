package fileskills

import (
	"fmt"
	"sync"
)

// Guard is whether a file must have been read by this Set before it is
// changed. What was read is known by content hash, never by time alone.
type Guard uint8

// The guards.
const (
	GuardOff     Guard = iota // no demand; content is still compared at commit
	GuardWarn                 // say so in the result
	GuardRequire              // stale_file
)

// maxSeen bounds how many files a Set remembers; beyond it the oldest count
// as not read.
const maxSeen = 10_000

// seen is which content of which file the client knows: what it read, or
// wrote.
type seen struct {
	mu    sync.Mutex
	hash  map[string]string // by place; guarded by mu
	order []string          // places, oldest first; guarded by mu
}

func (s *seen) note(place, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hash == nil {
		s.hash = make(map[string]string)
	}
	if _, known := s.hash[place]; !known {
		if len(s.order) == maxSeen {
			delete(s.hash, s.order[0])
			s.order = s.order[1:]
		}
		s.order = append(s.order, place)
	}
	s.hash[place] = hash
}

func (s *seen) get(place string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hash[place]
}

// noteRead records that the client has been shown the content with this hash.
func (c *call) noteRead(place, hash string) {
	if c.set.guard != GuardOff {
		c.set.seen.note(place, hash)
	}
}

// checkSeen asks the guard whether the file, whose content has this hash, may
// be changed. warning is for the result.
func (c *call) checkSeen(place, hash string) (warning string, err error) {
	if c.set.guard == GuardOff {
		return "", nil
	}
	known := c.set.seen.get(place)
	if known == hash {
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
