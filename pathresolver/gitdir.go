package pathresolver

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// Rules beneath git directories. git on the host opens what lies there without
// O_NOFOLLOW, waits for a FIFO, writes through a hard link, and runs what
// configuration and hooks say; so whatever an agent leaves there acts when the
// operator's next git command runs. Beneath every git directory
//
//   - only regular files and directories are made or moved in,
//   - what runs programs or leads git elsewhere is protected, if the directory
//     stood there before; in one that was made through this resolver it is
//     held to what can do no harm (GitContent),
//   - the index is checked before git on the host can see it: git writes to
//     the paths that it names.
//
// A git directory is recognised at each decision, at no cost at the start: by
// the name ".git", by what New found at the root, and otherwise by a file HEAD
// in it, for which only the few names that would matter there are looked at.
// Sources: gitrepository-layout(5), githooks(5), git-config(1), and system
// call traces of git at work.

// gitGuard holds the rules beneath git directories. nil has none.
type gitGuard struct {
	dirs   []string        // git directories that New found at the root, as places
	opened map[string]bool // names that are unprotected
	// outside are git directories beyond the root that files .git may name, absolute.
	outside []string
	own     string // the caller's own linked work tree, as a place, folded; "" for none
	// ways are places on the way to what git finds by a path, each with what names it.
	// None of them becomes a link, which would lead git elsewhere.
	ways gitWays
	// trees are directories beyond the root in which new linked work trees may lie.
	trees  []string
	made   madeDirs
	locks  madeLocks
	acting sync.RWMutex  // see hold
	turns  atomic.Uint64 // how often it was held alone, as for each move
	// at says what stands at a place; no link is followed. Where it cannot be
	// looked at something counts as there, made by somebody else.
	at   func(place string) (id resolved.FileID, typ fs.FileMode, ok bool)
	list func(place string) []string // names in a directory, bounded
}

// gitName is a name beneath a git directory that has rules of its own.
type gitName struct {
	name  string // folded, relative to the git directory
	whole bool   // and what lies beneath it
}

// gitProtected is what runs programs, or leads git to other files, when it
// changes in a git directory.
var gitProtected = []gitName{
	{"hooks", true},
	{"config", false},
	{"config.worktree", false},
	{"commondir", false},
	{"info/attributes", false},                // turns on filters that the operator's configuration names
	{"info/grafts", false},                    //
	{"objects/info/alternates", false},        // reads objects elsewhere
	{"objects/info/http-alternates", false},   //
	{"remotes", true},                         // where "git fetch" goes, the old way
	{"branches", true},                        //
	{"worktrees", true},                       // of other work trees
	{"objects/pack/multi-pack-index", false},  // names files that git opens
	{"objects/pack/multi-pack-index.d", true}, //
	{"merge_rr", false},                       // names files that git copies from and to (git-rerere(1))
	{"rr-cache", true},                        // makes git do that with every commit
	{"sl/config", false},                      // of Sapling, which keeps its own there
	{"arc/config", false},                     // of Arcanist, likewise
	{"lazygit.yml", false},                    // of lazygit: the pager that it runs for each diff
	{gitSafe, true},                           // PATH=.git/safe/../../bin runs programs of work trees that have it
	{"merge_autostash", false},                // is applied to the work tree by the next commit
}

// gitSafe is a directory by which an operator trusts a work tree. In the git directory
// of a submodule, which may have any name itself, it means nothing.
const gitSafe = "safe"

// gitSteps are directories that say what git does next: "exec" lines in a list
// that stands there run with the next "git rebase --continue".
var gitSteps = []string{"rebase-merge", "rebase-apply", "sequencer"}

// gitWorktrees is the entry of DefaultProtected for the linked work trees of the
// repository at the root.
const gitWorktrees = ".git/worktrees"

// maxGitNames bounds how much of a directory in a git directory is listed.
const maxGitNames = 1000

func newGitGuard(unprotect []string, at func(string) (resolved.FileID, fs.FileMode, bool), list func(string) []string) *gitGuard {
	g := &gitGuard{dirs: []string{".git"}, opened: map[string]bool{}, at: at, list: list}
	for _, name := range unprotect {
		g.opened[name] = true
	}
	return g
}

// decideGitDir says whether op may be done at a place as far as git directories
// are concerned. Both ends of a move, and links, are decided elsewhere.
func (p *policy) decideGitDir(op access.Op, place string, kind fs.FileMode) *DeniedError {
	g := p.git
	if g == nil || op == access.OpRead || op == access.OpRename || op == access.OpLink {
		return nil
	}
	if op == access.OpCreate {
		if d := p.decideKind(op, place, kind); d != nil {
			return d
		}
	}
	at, ok := g.find(place, kind)
	if !ok {
		if (op == access.OpCreate || op == access.OpWrite) && isHead(place) && kind.Type() != fs.ModeDir {
			return p.decideHead(place, kind)
		}
		return nil
	}
	special := op == access.OpCreate && kind.Type()&^fs.ModeDir != 0
	if at.rest == "" && !special {
		return p.decideDotGit(op, place, kind)
	}
	if at.rest != "" {
		if d := p.decideGitName(op, place, at, kind); d != nil {
			return d
		}
	}
	if special {
		return p.gitDenied(op, place, RuleGitDir, "in a git directory only regular files and directories are made: git on the host would follow a link, and wait for a FIFO")
	}
	return nil
}

// decideKind is the rule outside of git directories about links, FIFOs and other
// special files. At names that git opens in every directory of a work tree it would
// wait for a FIFO. A place that git finds by its path does not become a link, which
// would lead git elsewhere.
func (p *policy) decideKind(op access.Op, place string, kind fs.FileMode) *DeniedError {
	switch kind.Type() {
	case 0, fs.ModeDir:
		return nil
	case fs.ModeSymlink:
		if from, found := p.git.ways.get(place); found {
			return p.gitDenied(op, place, RuleProtected, "it does not become a link: "+from+" names it, or a file beneath it")
		}
		return nil
	}
	_, name := splitPlace(place)
	switch fold(name) {
	case ".gitignore", ".gitattributes", ".gitmodules", ".mailmap":
		return p.gitDenied(op, place, RuleGitDir, "git on the host opens a file of this name, and would wait for a FIFO or socket")
	}
	return nil
}

// decideGitName is the rule about a name in a git directory.
func (p *policy) decideGitName(op access.Op, place string, at gitAt, kind fs.FileMode) *DeniedError {
	g := p.git
	if hasDotGit(at.rest) && op != access.OpDelete {
		return p.gitDenied(op, place, RuleGitDir, "git keeps no repository beneath a git directory by this name: it could be moved out whole")
	}
	if g.isLock(place, at.rest) {
		if d := p.decideLock(op, place); d != nil {
			return d
		}
	}
	content := gitContentOf(at.rest)
	switch {
	case op != access.OpCreate && op != access.OpWrite:
	case slices.ContainsFunc(gitRests(at.rest), isReplacement):
		return p.gitDenied(op, place, RuleProtected, "a replacement of an object (git-replace(1)) would show other content on the host than is pushed")
	case content == resolved.GitRefs:
		return p.gitDenied(op, place, RuleGitContent, "packed refs are not written in place: git writes them beside, and they are checked when they take their place")
	case content == resolved.GitTables:
		return p.gitDenied(op, place, RuleGitContent, "the list of a reftable's tables is not written in place: git writes it beside, and it is checked when it takes its place")
	case content == resolved.GitIndex:
		return p.gitDenied(op, place, RuleGitContent, "an index is not written in place: git writes it beside, and it is checked when it takes its place")
	case content == resolved.GitNumber:
		if d := p.decideStepsAt(op, place, at); d != nil {
			return d
		}
		return p.gitDenied(op, place, RuleGitContent, "how far a rebase is, is a number: shells show it in their prompts")
	}
	if tree, rest, ok := gitWorktree(at.rest); ok && !g.opened[gitWorktrees] {
		return p.decideWorktree(op, place, joinPlace(at.dir, tree), rest, kind)
	}
	made := g.isMade(at.dir)
	if made {
		return p.decideMadeGit(op, place, at, kind)
	}
	if op == access.OpDelete && (at.rest == "head" || at.rest == "objects" || at.rest == "refs") {
		return p.gitDenied(op, place, RuleGitDir, "without it git would take the directory for no repository, and work on one above it")
	}
	if isConfigLock(at.rest) && !g.opened[".git/config"] && (op == access.OpCreate || op == access.OpWrite && !g.stands(place)) {
		return p.gitDenied(op, place, RuleGitContent, "a lock becomes the configuration when a git elsewhere lets go of it: only git itself makes one, which fails where one is")
	}
	if name := g.actsBy(place, at.rest); name != "" && !g.opened[".git/"+name] {
		return p.gitDenied(op, place, RuleProtected, "git on the host acts by it: it may be read but not changed")
	}
	return p.decideStepsAt(op, place, at)
}

// isReplacement reports whether a name beneath a git directory is one of
// git-replace(1).
func isReplacement(rest string) bool {
	return rest == "refs/replace" || strings.HasPrefix(rest, "refs/replace/")
}

// hasDotGit reports whether a name beneath a git directory is ".git", or lies
// beneath such a one.
func hasDotGit(rest string) bool {
	return slices.ContainsFunc(strings.Split(rest, "/"), isDotGit)
}

// decideStepsAt is decideSteps for what lies in a directory of gitSteps.
func (p *policy) decideStepsAt(op access.Op, place string, at gitAt) *DeniedError {
	for _, rest := range gitRests(at.rest) {
		first, below, deeper := strings.Cut(rest, "/")
		if !slices.Contains(gitSteps, first) {
			continue
		}
		dir := place
		if deeper {
			dir = placeAbove(place, below)
		}
		if d := p.decideSteps(op, place, dir); d != nil {
			return d
		}
	}
	return nil
}

// gitNameOf is the entry of gitProtected that covers what lies beneath a git
// directory; "" if none does.
func gitNameOf(rest string) string {
	for _, name := range gitProtected {
		if rest == name.name || name.whole && strings.HasPrefix(rest, name.name+"/") {
			return name.name
		}
	}
	return ""
}

// actsBy is the name in gitProtected that covers rest, the end of a place; where that
// lies in a submodule's git directory, it is judged from there, too. refs/remotes,
// where "git fetch" keeps what it got, is told apart from "remotes" of a submodule
// that is called refs.
func (g *gitGuard) actsBy(place, rest string) string {
	for _, at := range gitRests(rest) {
		if at == "refs/head" && at != rest {
			return "refs" // as HEAD it would make them a git directory
		}
		name := gitNameOf(at)
		if name == "" || name == gitSafe && at != rest || name == "remotes" && at != rest && g.isRefs(placeAbove(place, at)) {
			continue
		}
		return name
	}
	return ""
}

// isRefs reports whether a place is the refs of a submodule, or those in its logs, and
// not a submodule that is called refs. They are told apart by the file config: a
// submodule's git directory has one and its refs have none, and an agent may neither
// make nor remove it. Nor may it make HEAD in refs, which would turn them into a git
// directory.
func (g *gitGuard) isRefs(place string) bool {
	dir, name := splitPlace(place)
	if above, logs := splitPlace(dir); logs == "logs" {
		dir = above
	}
	_, _, module := g.at(joinPlace(dir, "config"))
	_, _, config := g.at(joinPlace(place, "config"))
	return name == "refs" && module && !config && !g.hasHead(place)
}

// placeAbove is the directory that rest, the end of place, lies in.
func placeAbove(place, rest string) string {
	for range strings.Count(rest, "/") + 1 {
		place, _ = splitPlace(place)
	}
	return place
}

// gitRests is what lies beneath a git directory, and for a submodule's, whose name
// may have several components, all that it could be beneath that one; also for a
// submodule of a linked work tree. A branch of a submodule that is called as a file
// with a rule is under that rule, too.
func gitRests(rest string) []string {
	if _, below, ok := gitWorktree(rest); ok && strings.HasPrefix(below, "modules/") {
		rest = below
	}
	if !strings.HasPrefix(rest, "modules/") {
		return []string{rest}
	}
	var all []string
	for below, deeper := rest, true; deeper; {
		if _, below, deeper = strings.Cut(below, "/"); deeper {
			all = append(all, below)
		}
	}
	return all
}

// decideSteps keeps an agent from changing what an interrupted rebase of the
// operator's will do; one that it has begun itself is its own.
func (p *policy) decideSteps(op access.Op, place, dir string) *DeniedError {
	id, typ, ok := p.git.at(dir)
	if !ok || typ.IsDir() && p.git.made.has(id) {
		return nil
	}
	return p.gitDenied(op, place, RuleProtected, "an interrupted rebase, merge or cherry-pick stood there before: what it says runs when somebody goes on with it")
}

// decideMadeGit is the rule about a git directory that was made through this resolver.
// Everything in it may be changed but what runs programs or leads git to other files.
func (p *policy) decideMadeGit(op access.Op, place string, at gitAt, kind fs.FileMode) *DeniedError {
	if op == access.OpDelete {
		return nil
	}
	if gitNameOf(at.rest) == gitSafe {
		return p.gitDenied(op, place, RuleProtected, "shells with .git/safe/../../bin in their PATH run programs of the work tree then")
	}
	return p.decideMadeNames(op, place, at.rest, kind)
}

func (p *policy) decideMadeNames(op access.Op, place, rest string, kind fs.FileMode) *DeniedError {
	for _, rest := range gitRests(rest) {
		if d := p.decideMadeName(op, place, rest, kind); d != nil {
			return d
		}
	}
	return nil
}

// decideMadeName is decideMadeGit for a name beneath the git directory itself.
func (p *policy) decideMadeName(op access.Op, place, rest string, kind fs.FileMode) *DeniedError {
	first, _, deeper := strings.Cut(rest, "/")
	switch {
	case op == access.OpMeta && isHook(rest):
		return p.gitDenied(op, place, RuleProtected, "a hook in a repository that was made here is not made executable: it would run on the host")
	case op == access.OpMeta:
	case gitContentOf(rest) == resolved.GitConfig:
		return p.gitDenied(op, place, RuleGitContent, "the configuration of a repository is not written in place: git writes it beside, and it is checked when it takes its place; use \"git config\"")
	case isHook(rest) && kind.Type() != fs.ModeDir:
		return p.gitDenied(op, place, RuleGitContent, "a hook in a repository that was made here is not executable, which has to be seen to when it is made")
	case rest == "commondir", rest == "objects/info/alternates", rest == "objects/info/http-alternates",
		rest == "merge_rr", rest == "merge_autostash", rest == "lazygit.yml", first == "rr-cache",
		deeper && (first == "remotes" || first == "branches"):
		return p.gitDenied(op, place, RuleProtected, "it leads git on the host to other files")
	case rest == "hooks" && kind.Type() != fs.ModeDir:
		return p.gitDenied(op, place, RuleProtected, "hooks are in a directory")
	}
	return nil
}

// gitWorktree splits off the directory of a linked work tree from what lies
// beneath a git directory: rest is "" for that itself.
func gitWorktree(rest string) (tree, below string, ok bool) {
	tail, ok := strings.CutPrefix(rest, "worktrees")
	if !ok || tail != "" && tail[0] != '/' {
		return "", "", false
	}
	if tail == "" {
		return rest, "", true
	}
	name, below, _ := strings.Cut(tail[1:], "/")
	return "worktrees/" + name, below, true
}

// decideWorktree is the rule about linked work trees: those that stood there
// belong to somebody else, new ones are for "git worktree add".
func (p *policy) decideWorktree(op access.Op, place, tree, below string, kind fs.FileMode) *DeniedError {
	id, _, exists := p.git.at(tree)
	made := exists && p.git.made.has(id)
	own := below != "" && tree == p.git.own && !made
	if own {
		if first, _, _ := strings.Cut(below, "/"); slices.Contains(gitSteps, first) {
			if d := p.decideSteps(op, place, joinPlace(tree, first)); d != nil {
				return d
			}
		}
		made = true
	}
	switch {
	case below == "" && op == access.OpCreate && kind.Type() == fs.ModeDir:
		return nil // a new one; mkdir fails on one that is there
	case below == "" && (made || op != access.OpCreate && p.git.emptyDir(tree)):
		return nil
	case !made:
		return p.gitDenied(op, place, RuleProtected, "it belongs to a work tree that stood there before")
	case below == "commondir" && (op == access.OpCreate || op == access.OpWrite):
		return p.gitDenied(op, place, RuleGitContent, "the commondir of a work tree is always \"../..\"")
	case below == "gitdir" && own:
		return p.gitDenied(op, place, RuleProtected, "it says where the work tree is, and stood there before")
	case below == "gitdir" && (op == access.OpCreate || op == access.OpWrite):
		return p.gitDenied(op, place, RuleGitContent, "the gitdir of a work tree names a file .git in the project, which it is checked for when git writes it")
	case below == "config.worktree" || below == "config.worktree.lock" || below == "merge_rr" || below == "merge_autostash" || below == "hooks" || strings.HasPrefix(below, "hooks/"):
		return p.gitDenied(op, place, RuleProtected, "git on the host acts by it: it may be read but not changed")
	case !strings.HasPrefix(below, "modules/") || op == access.OpDelete && !own:
		return nil
	case own && !p.git.isMade(joinPlace(tree, "modules")) && p.git.actsBy(place, below) != "":
		return p.gitDenied(op, place, RuleProtected, "git on the host acts by it: it may be read but not changed")
	}
	return p.decideMadeNames(op, place, below, kind)
}

// decideDotGit is the rule about a name ".git" itself.
func (p *policy) decideDotGit(op access.Op, place string, kind fs.FileMode) *DeniedError {
	id, typ, exists := p.git.at(place)
	made := exists && p.git.made.has(id)
	switch {
	case op == access.OpCreate && (kind.Type() == fs.ModeDir || exists && typ.IsDir()):
		return nil
	case op == access.OpMeta && (made || typ.IsDir()), op == access.OpDelete && (made || !exists || typ.IsDir()):
		return nil // a directory goes only when it is empty
	case exists && !made:
		return p.gitDenied(op, place, RuleProtected, "it says where the repository is, and stood there before")
	}
	return p.gitDenied(op, place, RuleGitContent, "a file .git names only a git directory of the work tree that it lies in: .git/worktrees/NAME or .git/modules/NAME of a directory above")
}

// decideHead is the rule about the name that makes a directory a git directory
// (git takes every directory with HEAD, objects and refs for one): only one that
// was made through this resolver becomes one, and only without what would have
// been checked.
func (p *policy) decideHead(place string, kind fs.FileMode) *DeniedError {
	g := p.git
	if !kind.IsRegular() {
		return p.gitDenied(access.OpCreate, place, RuleGitDir, "HEAD of a repository is a regular file")
	}
	if _, _, there := g.at(place); there {
		return nil
	}
	dir, _ := splitPlace(place)
	id, _, ok := g.at(dir)
	if !ok || !g.made.has(id) {
		return p.gitDenied(access.OpCreate, place, RuleGitDir, "a file HEAD would make the directory a repository to git on the host; in a new directory it can be made")
	}
	for _, name := range []string{"config", "config.worktree", "commondir", "worktrees", "remotes", "modules", "index", "packed-refs", "refs/replace", "rr-cache", "MERGE_RR", "MERGE_AUTOSTASH", "objects/info/alternates", "objects/info/http-alternates", "lazygit.yml", tableList} {
		if _, _, there := g.at(joinPlace(dir, name)); there {
			return p.gitDenied(access.OpCreate, place, RuleGitDir, fmt.Sprintf("the directory has %q already, and HEAD would make it a repository to git on the host", name))
		}
	}
	switch _, typ, there := g.at(joinPlace(dir, "hooks")); {
	case there && !typ.IsDir():
		return p.gitDenied(access.OpCreate, place, RuleGitDir, "the directory has \"hooks\" already, and HEAD would make it a repository to git on the host")
	case there:
		names := g.list(joinPlace(dir, "hooks"))
		for _, name := range names {
			if !strings.HasSuffix(name, ".sample") || len(names) == maxGitNames {
				return p.gitDenied(access.OpCreate, place, RuleGitDir, fmt.Sprintf("the directory has the hook %q already, and HEAD would make it a repository to git on the host", EscapePath(name)))
			}
		}
	}
	for _, name := range []string{"objects", "objects/info", "refs", "logs", "info", "branches"} {
		if _, typ, there := g.at(joinPlace(dir, name)); there && !typ.IsDir() {
			return p.gitDenied(access.OpCreate, place, RuleGitDir, fmt.Sprintf("the directory has %q already, which is no directory, and HEAD would make it a repository to git on the host", name))
		}
	}
	return nil
}

// gitDenied is a refusal by the rules about git directories.
func (p *policy) gitDenied(op access.Op, place string, rule access.Code, reason string) *DeniedError {
	return p.denied(op, place, rule, reason).by(".git", p.origins.Entries["protect"])
}
