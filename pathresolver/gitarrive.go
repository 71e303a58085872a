package pathresolver

import (
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// DecideArrival says whether a file or directory may be moved from one place to
// another as far as git directories are concerned. decideRename has decided the
// rest. RuleGitContent says that it may once its content has been checked.
func (r inside) DecideArrival(from, to string, a resolved.Arrival) *DeniedError {
	d := r.decideArrival(from, to, a)
	if d != nil {
		d.Op = access.OpRename
	}
	return d
}

func (p *policy) decideArrival(from, to string, a resolved.Arrival) *DeniedError {
	g := p.git
	if g == nil {
		return nil
	}
	if d := p.decideKind(access.OpRename, to, a.Mode); d != nil {
		return d
	}
	plain := a.Mode.IsRegular() && a.ID.Links <= 1
	at, inside := g.named(to)
	if !inside {
		at, inside = g.unnamed(to, !plain)
	}
	source, out := g.named(from)
	if !out {
		source, out = g.unnamed(from, false)
	}
	if out {
		// It leaves its name: that counts as removing it.
		if d := p.leaveGit(from, source, a); d != nil {
			return d
		}
	}
	if out && source.rest != "" && a.Mode.IsDir() && (!inside || at.dir != source.dir) {
		return p.gitDenied(access.OpRename, from, RuleGitDir, "out of a git directory no directory is moved: what lies in it is under other rules outside; copying is possible")
	}
	if !inside {
		if isHead(to) && !a.Mode.IsDir() {
			return p.decideHead(to, a.Mode)
		}
		return nil
	}
	same := out && source.dir == at.dir
	switch {
	case a.Mode.IsDir() && at.rest == "":
		return p.gitDenied(access.OpRename, to, RuleGitDir, "a directory does not become a git directory by its name: make it with \"git init\" or \"git clone\"")
	case a.Mode.IsDir() && (!same || !g.made.has(a.ID) || !gitMovable(at.rest)):
		return p.gitDenied(access.OpRename, to, RuleGitDir, "into a git directory no directory is moved: it could hold links that git on the host follows; copying is possible")
	case !a.Mode.IsDir() && !a.Mode.IsRegular():
		return p.gitDenied(access.OpRename, to, RuleGitDir, "into a git directory only regular files are moved: git on the host would follow a link, and wait for a FIFO")
	case !a.Mode.IsDir() && a.ID.Links > 1 && (!same || !inObjects(source.rest) || !inObjects(at.rest)):
		return p.gitDenied(access.OpRename, to, RuleHardLink, "the file has other hard links, which git on the host would change too; copying is possible")
	}
	if at.rest == "" {
		return p.decideDotGit(access.OpCreate, to, a.Mode.Type())
	}
	return p.arriveName(to, at, a)
}

// leaveGit is the rule about moving something away from a git directory.
func (p *policy) leaveGit(from string, source gitAt, a resolved.Arrival) *DeniedError {
	if source.rest != "" {
		return p.decideGitName(access.OpDelete, from, source, a.Mode.Type())
	}
	if id, _, ok := p.git.at(from); ok && p.git.made.has(id) {
		return nil
	}
	return p.gitDenied(access.OpRename, from, RuleProtected, "a repository that stood there before keeps its name")
}

// arriveName is the rule about the name that something gets in a git directory.
func (p *policy) arriveName(to string, at gitAt, a resolved.Arrival) *DeniedError {
	if p.git.isLock(to, at.rest) {
		if _, name := splitPlace(at.rest); !strings.HasPrefix(name, "index.stash.") || strings.HasSuffix(name, ".lock") {
			return p.gitDenied(access.OpRename, to, RuleProtected, "git makes its locks and moves nothing there: what a git elsewhere has just made there would be replaced")
		}
		if d := p.decideLock(access.OpRename, to); d != nil {
			return d
		}
	}
	d := p.decideGitName(access.OpCreate, to, at, a.Mode.Type())
	if d != nil && d.Rule == RuleGitContent && isHook(at.rest) {
		if a.Mode&0o111 == 0 {
			return nil
		}
		d.Rule = RuleProtected
	}
	return d
}

// gitMovable reports whether a directory that takes this name in a git directory
// can hold nothing that has a rule.
func gitMovable(rest string) bool {
	for _, name := range gitProtected {
		if rest == name.name || strings.HasPrefix(name.name, rest+"/") || strings.HasPrefix(rest, name.name+"/") {
			return false
		}
	}
	first, _, deeper := strings.Cut(rest, "/")
	return deeper && (first == "refs" && !isReplacement(rest) || first == "logs" || first == "objects")
}

// inObjects reports whether rest is a file of git's objects, to which git makes hard
// links: of a submodule only what can be nothing else by its name.
func inObjects(rest string) bool {
	return strings.HasPrefix(rest, "objects/") || strings.HasPrefix(rest, "modules/") && moduleObject().MatchString(rest)
}

var moduleObject = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/objects/(?:[0-9a-f]{2}/(?:tmp_obj_\w+|[0-9a-f]{38}|[0-9a-f]{62})|pack/(?:tmp_\w+|pack-[0-9a-f]+\.\w+))$`)
})

// decideGitLink says whether the file at from may get a second name: between git
// directories objects may, as git itself does it; nothing else that lies in one,
// since what is checked there could be changed by the other name.
func (p *policy) decideGitLink(from, to string) *DeniedError {
	g := p.git
	if g == nil {
		return nil
	}
	source, out := g.find(from, fs.ModeSymlink)
	target, in := g.find(to, fs.ModeSymlink)
	if !out && !in {
		if isHead(to) {
			return p.decideHead(to, 0)
		}
		return nil
	}
	if out && in && inObjects(source.rest) && inObjects(target.rest) {
		return p.decideGitName(access.OpCreate, to, target, 0)
	}
	return p.gitDenied(access.OpLink, to, RuleGitDir, "in a git directory only objects have hard links: git on the host would write through them; copying is possible")
}
