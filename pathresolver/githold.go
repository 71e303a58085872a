package pathresolver

// What is decided about git directories rests on what stands there: who made a
// directory, and whether a file HEAD makes it a repository. It must still be so when
// the operation is done, whatever else goes on in this process. So a change is
// decided and done under gitGuard.acting, side by side with others; what could
// alter the answers for others is alone: a move, a hard link, and a file HEAD.
// The lock is not held while waiting for anybody, and never taken twice (I29).

// gitHold keeps decisions about git directories true until its release.
type gitHold struct {
	g     *gitGuard
	alone bool
}

// hold is to be taken before op is decided. It must be released.
func (p *policy) hold(op Op) gitHold { return p.git.hold(op, op == OpRename || op == OpLink) }

// holdFile is hold for making or changing a file at a place.
func (p *policy) holdFile(op Op, place string) gitHold { return p.git.hold(op, isHead(place)) }

func (g *gitGuard) hold(op Op, alone bool) gitHold {
	switch {
	case g == nil || op == OpRead:
		return gitHold{}
	case alone:
		g.acting.Lock()
		g.turns.Add(1)
	default:
		g.acting.RLock()
	}
	return gitHold{g, alone}
}

func (h gitHold) release() {
	switch {
	case h.g == nil:
	case h.alone:
		h.g.acting.Unlock()
	default:
		h.g.acting.RUnlock()
	}
}

// turn is a number that stays the same as long as no directory that was opened has
// been moved through this resolver.
func (p *policy) turn() uint64 {
	if p.git == nil {
		return 0
	}
	return p.git.turns.Load()
}

// heldDir is an open directory, and where it was at a turn.
type heldDir struct {
	fd    handle
	place string
	turn  uint64
}
