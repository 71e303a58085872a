package gitshare

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

const (
	maxMade   = 100_000  // names that a run makes and may change again
	maxPacked = 64 << 20 // bytes of packed-refs that are read
)

// guard decides about places in a git directory, as far as other checkouts use
// it: worktrees are another's also where the rest is the checkout's alone. A name that is there
// and that this run did not make belongs to others; one that is missing may be
// made. That is asked when it matters and not at the start, so that what other
// worktrees make meanwhile is theirs too. A name that the run has made stays
// its own, also where somebody makes it anew after the run removed it.
type guard struct {
	repo Repo

	mu     sync.Mutex // guards what follows
	made   map[string]bool
	packed packed
}

func newGuard(r *Repo) *guard {
	return &guard{repo: *r, made: map[string]bool{}, packed: packed{root: r.root}}
}

// always are files that git makes and removes for its clean-up.
var always = map[string]bool{"gc.pid": true, "gc.log": true}

// locks are those that git takes before it looks whether there is anything to
// do, or goes on without what it cannot change; what packed-refs.lock and config.lock
// are renamed to stays protected.
var locks = map[string]bool{"gc.pid.lock": true, "gc.log.lock": true, "packed-refs.lock": true, "config.lock": true}

// othersRefs are refs of the main work tree (git-worktree(1), "Refs"), and those
// that replace an object wherever it is used (git-replace(1)).
var othersRefs = []string{"refs/bisect", "refs/rewritten", "refs/worktree", "refs/replace"}

// restrict is Config.Restrict.
func (g *guard) restrict(op access.Op, place string, kind fs.FileMode) string {
	if !g.repo.Shared() && !strings.HasPrefix(place, "worktrees/") {
		return ""
	}
	switch {
	case beneath(place, "objects"):
		return ""
	case g.repo.Shared() && place == "worktrees/"+g.repo.Worktree && op != access.OpMeta:
		return "it is this worktree's own git directory, which stays"
	case g.repo.Shared() && beneath(place, "worktrees/"+g.repo.Worktree), always[place]:
		return ""
	case locks[place]:
		return g.own(op, place, "", "another git is at work there")
	case place == "packed-refs", place == "packed-refs.new":
		return "who writes it changes any ref of this repository: \"git update-ref -d REF\" deletes one that this run made"
	case strings.HasPrefix(place, "worktrees/"):
		name := topOf(place, "worktrees")
		return g.own(op, "worktrees/"+name, "", fmt.Sprintf("the worktree '%s' is not this run's", pathresolver.EscapePath(name)))
	case op == access.OpCreate && kind.IsDir() && g.leadsToLogs(place):
		return ""
	case strings.HasPrefix(place, "refs/"), strings.HasPrefix(place, "logs/refs/"):
		return g.ref(op, place)
	}
	return "other checkouts share this repository: only this worktree's own directory, its branch, new refs and objects can be changed"
}

// leadsToLogs reports whether a directory is missing that leads to the logs of
// refs that may be there: a bare repository has no logs until a worktree of it does.
func (g *guard) leadsToLogs(place string) bool {
	leads := place == "logs" || beneath(place, "logs/refs") && g.isDir(strings.TrimPrefix(place, "logs/"))
	return leads && !g.exists(place)
}

// ref decides about a ref, its lock and its log, which go together.
func (g *guard) ref(op access.Op, place string) string {
	ref := strings.TrimSuffix(strings.TrimPrefix(place, "logs/"), ".lock")
	if ref == g.repo.Branch || ref == "refs/stash" || strings.HasPrefix(ref, "refs/remotes/") {
		return ""
	}
	for _, others := range othersRefs {
		if beneath(strings.ToLower(ref), others) {
			return fmt.Sprintf("refs beneath '%s' are about every checkout of this repository", others)
		}
	}
	if op == access.OpRename && g.isDir(place) {
		return "directories of refs are not moved"
	}
	return g.own(op, place, ref, fmt.Sprintf("'%s' was there before, or another checkout made it: only this worktree's branch and new refs can be changed", pathresolver.EscapePath(ref)))
}

// own agrees about a name that this run made, or makes now; ref is "" or the
// ref that place belongs to.
func (g *guard) own(op access.Op, place, ref, refusal string) string {
	key := place
	if ref != "" {
		key = ref
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if ref != "" && op == access.OpRename && g.packed.beneath(ref) {
		return refusal // a directory moved there would bring refs of those names
	}
	switch {
	case g.made[key]:
		return ""
	case op != access.OpCreate && op != access.OpRename && op != access.OpLink:
		return refusal
	case len(g.made) >= maxMade:
		return fmt.Sprintf("this run has made %d names here, which is as many as are kept in mind", maxMade)
	case g.exists(place), ref != "" && (g.exists(ref) || g.exists(ref+".lock") || g.exists("logs/"+ref) || g.packed.has(ref)):
		return refusal
	}
	g.made[key] = true
	return ""
}

// exists reports whether something is there, and says so where it cannot be
// told.
func (g *guard) exists(place string) bool {
	_, err := g.repo.root.Lstat(filepath.FromSlash(place))
	return !os.IsNotExist(err)
}

func (g *guard) isDir(place string) bool {
	info, err := g.repo.root.Lstat(filepath.FromSlash(place))
	return err == nil && info.IsDir()
}

// packed are the refs of packed-refs as they were when it was last read.
type packed struct {
	root  *os.Root
	info  fs.FileInfo
	names map[string]bool // folded, as some file systems do with loose refs
	dirs  map[string]bool // what leads to them
	bad   bool            // it could not be read: it may name any ref
}

func (p *packed) has(ref string) bool {
	p.read()
	return p.bad || p.names[strings.ToLower(ref)]
}

// beneath reports whether refs are packed whose names go on from ref.
func (p *packed) beneath(ref string) bool {
	p.read()
	return p.bad || p.dirs[strings.ToLower(ref)]
}

// read reads the file again where it has changed: git never writes it in place.
func (p *packed) read() {
	const name = "packed-refs"
	info, err := p.root.Lstat(name)
	if os.IsNotExist(err) {
		*p = packed{root: p.root}
		return
	}
	fresh := time.Since(modTime(info)) < 2*time.Second // two of that age may look alike
	if err == nil && p.info != nil && !fresh && os.SameFile(p.info, info) && p.info.Size() == info.Size() && p.info.ModTime().Equal(info.ModTime()) {
		return
	}
	*p = packed{root: p.root, info: info, bad: true}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPacked {
		return
	}
	f, err := p.root.Open(name)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // was only read
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		p.info = nil // replaced just now
		return
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPacked+1))
	if err != nil || len(data) > maxPacked {
		return
	}
	p.names, p.dirs = packedNames(string(data))
	p.bad = false
}

func modTime(info fs.FileInfo) time.Time {
	if info == nil {
		return time.Time{}
	}
	return info.ModTime()
}

// packedNames reads a packed-refs file: a line is a hash, a space and a name;
// those that begin with # or ^ name no ref.
func packedNames(text string) (names, dirs map[string]bool) {
	names, dirs = map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(text) {
		_, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "^") {
			continue
		}
		name = strings.ToLower(name)
		names[name] = true
		for i := range name {
			if name[i] == '/' {
				dirs[name[:i]] = true
			}
		}
	}
	return names, dirs
}

// beneath reports whether place is dir or lies beneath it.
func beneath(place, dir string) bool { return place == dir || strings.HasPrefix(place, dir+"/") }

// topOf is the first name of place beneath dir.
func topOf(place, dir string) string {
	name, _, _ := strings.Cut(place[len(dir)+1:], "/")
	return name
}
