package permission

import (
	"errors"
	"fmt"
	"strings"
)

// Session keys are agent:<id>:<session...>. A pattern over them is read segment by
// segment: a * at the beginning or the end is one or more segments, a * in between is
// exactly one, and everything else stands for itself.

// sessionPattern is a checked pattern.
type sessionPattern struct {
	text string
	segs []string
}

func parseSessionPattern(text string) (sessionPattern, error) {
	if len(text) > maxPath {
		return sessionPattern{}, errors.New("the pattern is too long")
	}
	segs := strings.Split(text, ":")
	for _, s := range segs {
		if s != "*" && (s == "" || strings.ContainsFunc(s, func(r rune) bool { return !idRune(r) })) {
			return sessionPattern{}, fmt.Errorf("%q is no pattern over session keys: want segments of letters, digits and . _ @ + -, or *, joined by ':' as in agent:main:*", text)
		}
	}
	if segs[0] != "*" && segs[0] != "agent" {
		return sessionPattern{}, fmt.Errorf("the pattern %q can match no session key: they begin with 'agent:' or '*'", text)
	}
	return sessionPattern{text: text, segs: segs}, nil
}

// matches reports whether the pattern matches a session key.
func (p sessionPattern) matches(key string) bool {
	segs := p.segs
	first, last := segs[0] == "*", segs[len(segs)-1] == "*"
	n := strings.Count(key, ":") + 1
	if len(segs) == 1 && first {
		return true
	}
	fixed := len(segs) // segments that stand for exactly one
	if n < fixed || n > fixed && !first && !last {
		return false
	}
	if first && last {
		for skip := 1; skip <= n-fixed+1; skip++ {
			if matchSegments(segs[1:len(segs)-1], skipSegments(key, skip)) {
				return true
			}
		}
		return false
	}
	if first {
		return matchSegments(segs[1:], skipSegments(key, n-fixed+1))
	}
	if last {
		segs = segs[:len(segs)-1]
	}
	return matchSegments(segs, key)
}

// matchSegments matches segments at the start of key.
func matchSegments(segs []string, key string) bool {
	for _, s := range segs {
		name, rest, _ := strings.Cut(key, ":")
		if name == "" || s != "*" && s != name {
			return false
		}
		key = rest
	}
	return true
}

func skipSegments(key string, n int) string {
	for ; n > 0; n-- {
		_, key, _ = strings.Cut(key, ":")
	}
	return key
}

// within reports whether q matches every key that p matches, as far as their
// text shows it; it never claims it wrongly.
func (p sessionPattern) within(q sessionPattern) bool {
	if p.text == q.text || q.text == "*" {
		return true
	}
	n := len(q.segs) - 1
	if q.segs[n] != "*" || len(p.segs) <= n || q.segs[0] == "*" || p.segs[0] == "*" {
		return !strings.Contains(p.text, "*") && q.matches(p.text)
	}
	for i, s := range q.segs[:n] {
		if s != "*" && s != p.segs[i] {
			return false
		}
	}
	return true
}

// AgentOf returns the agent's id of a session key, or of a bare id.
func AgentOf(target string) string {
	if rest, ok := strings.CutPrefix(target, "agent:"); ok {
		id, _, _ := strings.Cut(rest, ":")
		return id
	}
	return target
}
