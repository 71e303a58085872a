package launcher

import (
	"encoding/gob"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// judge tells of those attempts that the kernel refused because a mount of the
// view is read-only. It looks at the tree a moment later than the kernel did;
// nothing rests on it but the report.
func (s *session) judge() {
	defer close(s.judged)
	if s.attempts == nil {
		return
	}
	defer s.attempts.Close()
	j := judge{root: s.plan.Root, uid: uint32(s.plan.ID.UID)}
	told := gob.NewDecoder(s.attempts)
	for {
		var heard attempts
		if told.Decode(&heard) != nil {
			s.dropped++ // the set-up helper has ended, and could not tell all: of one at least
			return
		}
		s.dropped += heard.Lost
		j.r, j.mounts = resolved.Of(s.config.View.Resolver()).(rules), s.config.View.Mounts() // both may have changed
		for i := range heard.List {
			if r, refused := j.refusal(&heard.List[i]); refused {
				s.config.OnRefusal(r)
			}
		}
		if heard.Done {
			return
		}
	}
}

// rules are what the judge asks of a resolver about places.
type rules interface {
	Decide(op access.Op, place string, kind fs.FileMode) *pathresolver.DeniedError
	DecideRenameGranted(g pathresolver.Grant, from, to string, exchange bool) *pathresolver.DeniedError
	DecideLinkGranted(g pathresolver.Grant, from, to string) *pathresolver.DeniedError
	Verdict(place string) resolved.Verdict
	Explain(op access.Op, path string) resolved.Decision
	OpenPlace(place string, flags int, mode uint32) (int, error)
}

type judge struct {
	r      rules
	root   string
	mounts []sandboxfs.Mount // parents first
	uid    uint32
}

// target is where a name of an attempt leads.
type target struct {
	place  string
	exists bool
	mode   uint32 // its type, where it exists
	frozen bool   // it lies in a mount that the kernel keeps read-only
}

// refusal is what the view would have said about a, had it been asked.
func (j *judge) refusal(a *attempt) (r sandboxfs.Refusal, refused bool) {
	call := callOf(a.Call)
	if call == nil {
		return r, false
	}
	v := j.judge(call, a)
	if v.denied == nil {
		return r, false
	}
	return sandboxfs.Refusal{
		Time: time.Unix(0, a.Time), PID: a.PID, UID: j.uid, Program: a.Program,
		Op: v.denied.Op, Place: v.denied.Path, Rule: v.denied.Rule, Pattern: v.denied.Pattern, Origin: v.denied.Origin,
		Errno: v.errno, Syscall: v.request,
	}, true
}

// verdict is why an attempt was refused; denied is nil where the kernel has let
// it pass, or had another reason to refuse it, such as a name that is missing.
type verdict struct {
	denied  *pathresolver.DeniedError
	request string
	errno   syscall.Errno
}

func (j *judge) judge(call *watchedCall, a *attempt) verdict {
	v := verdict{request: call.request, errno: unix.EROFS}
	t, ok := j.locate(a.File, call.follows(a.Flags))
	switch {
	case !ok:
	case call.twoFiles():
		j.move(&v, call, a, t)
	case !t.frozen:
	case call.does == doesOpen:
		j.open(&v, a.Flags, t)
	case call.does == doesMake && !t.exists:
		v.denied = j.r.Decide(access.OpCreate, t.place, madeKind[v.request])
	case call.does == doesRemove && t.exists:
		dir := a.Flags&unix.AT_REMOVEDIR != 0
		if dir {
			v.request = "rmdir"
		}
		if dir == t.is(unix.S_IFDIR) {
			v.denied = j.r.Decide(access.OpDelete, t.place, 0)
		}
	case call.does == doesResize && t.is(unix.S_IFREG):
		v.denied = j.r.Decide(access.OpWrite, t.place, 0)
	case call.does == doesChange && t.exists:
		v.denied = j.r.Decide(access.OpMeta, t.place, 0)
	}
	return v
}

// move is judge for rename(2) and link(2). Between two mounts the kernel says
// EXDEV before it looks at the names; many programs copy then, and what is
// refused of that is told as well.
func (j *judge) move(v *verdict, call *watchedCall, a *attempt, from target) {
	to, ok := j.locate(a.To, false)
	if !ok || !from.frozen && !to.frozen || from.frozen && !from.exists {
		return
	}
	exchange := call.does == doesRename && a.Flags&unix.RENAME_EXCHANGE != 0
	fresh := call.does == doesLink || a.Flags&unix.RENAME_NOREPLACE != 0
	switch {
	case from.frozen != to.frozen:
		v.errno = unix.EXDEV
	case exchange && !to.exists, fresh && to.exists: // ENOENT, EEXIST
		return
	}
	if call.does == doesRename {
		v.denied = j.r.DecideRenameGranted(nil, from.place, to.place, exchange)
	} else if !from.is(unix.S_IFDIR) {
		v.denied = j.r.DecideLinkGranted(nil, from.place, to.place)
	}
}

// open is judge for open(2) and its like.
func (j *judge) open(v *verdict, flags uint64, t target) {
	writes := flags&unix.O_ACCMODE != unix.O_RDONLY || flags&unix.O_TRUNC != 0
	switch {
	case flags&unix.O_TMPFILE == unix.O_TMPFILE:
		if t.is(unix.S_IFDIR) {
			v.request, v.denied = "tmpfile", j.r.Decide(access.OpCreate, t.place, 0)
		}
	case !t.exists:
		if flags&unix.O_CREAT != 0 {
			v.request, v.denied = "create", j.r.Decide(access.OpCreate, t.place, 0)
		}
	case flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL: // EEXIST
	case writes && t.is(unix.S_IFREG):
		v.denied = j.r.Decide(access.OpWrite, t.place, 0)
	}
}

// madeKind is the type of what a request makes; that of mknod is not asked.
var madeKind = map[string]fs.FileMode{"mkdir": fs.ModeDir, "symlink": fs.ModeSymlink}

// follows reports whether the kernel follows a last symbolic link.
func (c *watchedCall) follows(flags uint64) bool {
	switch c.does {
	case doesOpen:
		return flags&unix.O_NOFOLLOW == 0 && flags&(unix.O_CREAT|unix.O_EXCL) != unix.O_CREAT|unix.O_EXCL
	case doesLink:
		return flags&unix.AT_SYMLINK_FOLLOW != 0
	case doesChange:
		return flags&unix.AT_SYMLINK_NOFOLLOW == 0
	}
	return c.does == doesResize
}

// locate follows an absolute path as the kernel does; ok is false where it
// leads out of the project or its directory is missing. A path that climbs out
// by ".." and comes back is read without its "..", as if there were no links
// before them.
func (j *judge) locate(unsafePath string, follow bool) (t target, ok bool) {
	op := access.OpDelete // does not follow a last link
	if follow {
		op = access.OpWrite
	}
	for _, try := range []string{unsafePath, path.Clean(unsafePath)} {
		if beneath(try, j.root) && t.place == "" {
			t.place = j.r.Explain(op, "."+try[len(j.root):]).Place
		}
	}
	if t.place == "" {
		return t, false
	}
	for _, p := range j.mounts {
		if p.Place == "." || t.place == p.Place || strings.HasPrefix(t.place, p.Place+"/") {
			t.frozen = p.ReadOnly
		}
	}
	if !j.r.Verdict(t.place).Hidden { // inside, what is hidden is not there
		if t.mode, t.exists = j.typeAt(t.place); t.exists {
			return t, true
		}
	}
	mode, ok := j.typeAt(path.Dir(t.place))
	return t, ok && mode == unix.S_IFDIR
}

// typeAt is the type of the file at a place; ok is false where there is none.
func (j *judge) typeAt(place string) (mode uint32, ok bool) {
	fd, err := j.r.OpenPlace(place, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0, false
	}
	return st.Mode & unix.S_IFMT, true
}

func (t *target) is(mode uint32) bool { return t.exists && t.mode == mode }
