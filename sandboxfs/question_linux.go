package sandboxfs

import (
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// questions are what requests have to put to Ask, from where the rules are
// asked to where no lock is held any more.
type questions struct {
	mu  sync.Mutex
	all map[uint64]AskRequest // by the request's unique id
}

func (qs *questions) put(unique uint64, q AskRequest) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if qs.all == nil {
		qs.all = map[uint64]AskRequest{}
	}
	qs.all[unique] = q
}

func (qs *questions) take(unique uint64) AskRequest {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.all[unique]
	delete(qs.all, unique)
	return q
}

// ask is refuse for what leave may be given for: toConsult where Ask is to be
// asked first. leave is what was given already. What would be refused with leave
// too is refused now.
func (p *part) ask(h *fuse.InHeader, call string, d *pathresolver.DeniedError, leave pathresolver.Grant, a act) fuse.Status {
	asks := p.v.asks
	if asks == nil || leave != nil || d.Rule != pathresolver.RuleAsk {
		return p.refuse(h, call, d)
	}
	q := AskRequest{Accesses: a.accesses(p.r), Syscall: call, PID: h.Pid, UID: h.Uid, Program: programOf(h.Pid)}
	if final := a.decide(p.r, pathresolver.GrantFor(q.Accesses...)); final != nil {
		return p.refuse(h, call, final)
	}
	q.Wait = call == "open" && asks.wait != 0
	if !q.Wait && asks.atOnce(q) {
		return p.refuse(h, call, d)
	}
	p.questions.put(h.Unique, q)
	return toConsult
}

// futile says what keeps a file from being opened besides the rules that ask:
// then nobody is asked, and no leave is used up.
func (p *part) futile(h *fuse.InHeader, call string, n *node, a act) fuse.Status {
	var sx unix.Statx_t
	fd, _, err := p.open(n, unix.O_PATH, &sx)
	if err != nil {
		return status(err)
	}
	defer closeFD(fd)
	mask := uint32(0)
	if a.reads || a.op == pathresolver.OpRead {
		mask |= unix.R_OK
	}
	if a.op == pathresolver.OpWrite {
		mask |= unix.W_OK
		if sx.Nlink > 1 {
			if _, d := p.r.CheckLinks(a.place, fileID(&sx)); d != nil {
				return p.refuse(h, call, d)
			}
		}
	}
	return status(unix.Faccessat2(fd, "", mask, unix.AT_EMPTY_PATH|unix.AT_EACCESS))
}
