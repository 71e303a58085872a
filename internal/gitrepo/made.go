package gitrepo

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// harmless are the variables that the configuration of a repository may have
// that an agent has made: none runs a program, and none leads git to another
// file, and none has "git status" connect to another host (extensions.partialClone,
// promisor remotes). "*" stands for any subsection. The list is of what may be, since every
// version of git has new ones that run something. Source: git-config(1).
var harmless = map[string]bool{
	"core.repositoryformatversion": true, "core.filemode": true, "core.bare": true, "core.logallrefupdates": true,
	"core.symlinks": true, "core.ignorecase": true, "core.precomposeunicode": true, "core.autocrlf": true, "core.eol": true,
	"core.safecrlf": true, "core.sparsecheckout": true, "core.sparsecheckoutcone": true, "core.commentchar": true,
	"core.compression": true, "core.loosecompression": true, "core.bigfilethreshold": true, "core.abbrev": true,
	"core.quotepath": true, "core.whitespace": true, "core.sharedrepository": true, "core.untrackedcache": true,
	"core.splitindex": true, "core.multipackindex": true, "core.commitgraph": true, "core.protecthfs": true,
	"core.protectntfs": true, "core.longpaths": true, "core.trustctime": true, "core.checkstat": true, "core.preloadindex": true,

	"extensions.objectformat": true, "extensions.noop": true, "extensions.preciousobjects": true,
	"extensions.compatobjectformat": true, "extensions.refstorage": true,

	"user.name": true, "user.email": true, "user.useconfigonly": true, "author.name": true, "author.email": true,
	"committer.name": true, "committer.email": true,

	"branch.*.remote": true, "branch.*.merge": true, "branch.*.rebase": true, "branch.*.description": true,
	"branch.*.pushremote": true, "branch.autosetupmerge": true, "branch.autosetuprebase": true, "branch.sort": true,
	"branch.*.vscode-merge-base": true, "branch.*.gh-merge-base": true, "branch.*.github-pr-owner-number": true,

	"remote.*.url": true, "remote.*.pushurl": true, "remote.*.fetch": true, "remote.*.push": true, "remote.*.mirror": true,
	"remote.*.tagopt": true, "remote.*.prune": true, "remote.*.prunetags": true,
	"remote.*.skipdefaultupdate": true, "remote.*.skipfetchall": true,
	"remote.*.gh-resolved": true, "remote.pushdefault": true, "remotes.*": true, "clone.defaultremotename": true,

	"submodule.*.url": true, "submodule.*.active": true, "submodule.*.branch": true, "submodule.*.ignore": true,
	"submodule.active": true, "submodule.recurse": true, "submodule.fetchjobs": true,

	"init.defaultbranch": true, "pull.rebase": true, "pull.ff": true, "push.default": true, "push.autosetupremote": true,
	"push.followtags": true, "fetch.prune": true, "fetch.prunetags": true, "fetch.parallel": true, "fetch.recursesubmodules": true,
	"fetch.writecommitgraph": true, "merge.conflictstyle": true, "merge.ff": true, "merge.renames": true, "merge.renamelimit": true,
	"merge.stat": true, "merge.log": true, "rebase.autosquash": true, "rebase.autostash": true, "rebase.updaterefs": true,
	"rebase.stat": true, "rebase.missingcommitscheck": true, "rerere.enabled": true, "rerere.autoupdate": true,
	"diff.renames": true, "diff.renamelimit": true, "diff.algorithm": true, "diff.mnemonicprefix": true, "diff.noprefix": true,
	"diff.colormoved": true, "diff.context": true, "diff.submodule": true, "diff.ignoresubmodules": true, "status.short": true, "status.branch": true,
	"status.showuntrackedfiles": true, "status.submodulesummary": true, "log.date": true, "log.follow": true, "log.abbrevcommit": true,
	"advice.detachedhead": true, "commit.gpgsign": true, "commit.verbose": true, "commit.cleanup": true, "commit.status": true,
	"tag.sort": true, "tag.gpgsign": true, "stash.showpatch": true, "apply.whitespace": true, "versionsort.suffix": true,
	"gc.auto": true, "gc.autodetach": true, "gc.autopacklimit": true, "gc.pruneexpire": true, "gc.reflogexpire": true,
	"gc.packrefs": true, "gc.writecommitgraph": true, "maintenance.auto": true, "maintenance.strategy": true,
	"pack.threads": true, "pack.windowmemory": true, "pack.depth": true, "pack.window": true, "pack.compression": true,
	"receive.denycurrentbranch": true, "receive.denynonfastforwards": true, "receive.denydeletes": true, "receive.fsckobjects": true,
	"transfer.fsckobjects": true, "transfer.hiderefs": true, "uploadpack.allowfilter": true, "uploadpack.allowanysha1inwant": true,
	"uploadpack.allowreachablesha1inwant": true, "uploadpack.allowtipsha1inwant": true, "http.postbuffer": true, "index.version": true,
	"feature.manyfiles": true, "feature.experimental": true, "color.ui": true, "color.status": true, "color.branch": true, "color.diff": true,
	"help.autocorrect": true, "column.ui": true, "notes.displayref": true, "lfs.repositoryformatversion": true, "blame.showemail": true,
	"worktree.guessremote": true, "checkout.defaultremote": true, "checkout.workers": true, "bitmap.usebitmapindex": true,
}

// CheckMade says whether text may be the configuration of a repository that an
// agent has made, whose git directory lies at dir beneath the project, which is at
// root, an absolute path: git on the host reads it when it looks into the
// repository, which "git status" in the project does where a commit names it. The
// error names the line and the variable. paths are where its remotes are that lie in
// the project, absolute: a link there would lead git elsewhere.
func CheckMade(text []byte, root, dir string) (paths []string, err error) {
	settings, err := parseConfig("config", text)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if reason := s.harm(root, dir, &paths); reason != "" {
			return nil, fmt.Errorf("line %d: %s %s", s.line, s.key(), reason)
		}
	}
	if strings.Contains(strings.ToLower(string(text)), "sha256") &&
		!slices.ContainsFunc(settings, func(s setting) bool {
			return s.key() == "extensions.objectformat" && strings.EqualFold(s.value, "sha256")
		}) {
		return nil, errors.New("it names sha256, which is not its object format")
	}
	return paths, nil
}

// IsSHA256 says whether text is the configuration of a repository whose objects
// are named by SHA-256 (extensions.objectFormat). What cannot be read is not.
func IsSHA256(text []byte) bool {
	format, _ := Setting(text, "extensions.objectformat")
	return strings.EqualFold(format, "sha256")
}

// harm says what is wrong with a variable; "" if nothing is. It adds to paths.
func (s setting) harm(root, dir string, paths *[]string) string {
	key := s.section + "." + s.name
	if s.sub {
		key = s.section + ".*." + s.name
	}
	switch {
	case key == "core.worktree":
		return worktreeHarm(dir, s.value)
	case key == "remote.*.url" || key == "remote.*.pushurl" || key == "submodule.*.url":
		return urlHarm(root, dir, s.value, paths)
	case key == "branch.*.remote" || key == "branch.*.pushremote" || key == "remote.pushdefault":
		return remoteHarm(root, dir, s.value, paths)
	case s.section == "remotes":
		for name := range strings.FieldsSeq(s.value) {
			if reason := remoteHarm(root, dir, name, paths); reason != "" {
				return reason
			}
		}
		return ""
	case harmless[key] || s.section == "advice" || s.section == "color" && !strings.Contains(key, "pager"):
		return ""
	}
	return "is not among what a repository that was made here may have: git on the host could run or read what it names"
}

// urlHarm says what is wrong with where a remote is. git reads another repository
// by its path, with the rights of whoever fetches: a "git fetch" of the operator's,
// which goes into submodules, would copy what the agent cannot read.
func urlHarm(root, dir, url string, paths *[]string) string {
	if strings.HasPrefix(url, "-") || strings.Contains(url, "::") {
		return "could run a program: it names a transport"
	}
	at, file := strings.CutPrefix(url, "file://")
	if !file {
		colon, slash := strings.IndexByte(url, ':'), strings.IndexByte(url, '/')
		if colon >= 0 && (slash < 0 || colon < slash) {
			return "" // of another host (git-fetch(1), "Git URLs")
		}
	}
	if !path.IsAbs(at) {
		// From the top of the work tree, of which a submodule's is not known here.
		tree, own := strings.CutSuffix("/"+dir, "/.git")
		if !own {
			tree = ""
		}
		const top = "/\x00" // which no path names
		if to := path.Join(top+tree, at); file || to != top && !strings.HasPrefix(to, top+"/") {
			return "leads to a repository outside of the project"
		}
		*paths = append(*paths, path.Join(root, path.Join(tree, at)))
		return ""
	}
	if to := path.Clean(at); to != root && !strings.HasPrefix(to, strings.TrimSuffix(root, "/")+"/") {
		return "leads to a repository outside of the project"
	}
	*paths = append(*paths, path.Clean(at))
	return ""
}

// remoteHarm is urlHarm for what names a remote, and may be a URL instead.
func remoteHarm(root, dir, name string, paths *[]string) string {
	if name == "." || !strings.ContainsAny(name, "/:") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "-") {
		return ""
	}
	return urlHarm(root, dir, name, paths)
}

// worktreeHarm keeps the work tree of a submodule where git puts it: above the
// .git that the git directory lies in.
func worktreeHarm(dir, value string) string {
	above, module, ok := strings.Cut("/"+dir+"/", "/.git/modules/")
	if !ok || path.IsAbs(value) {
		return "leads to a work tree elsewhere"
	}
	module = strings.TrimSuffix(module, "/")
	tree := path.Join("/", dir, value)
	up := strings.Repeat("../", strings.Count(module, "/")+3)
	rest, ok := strings.CutPrefix(value, up)
	if !ok || rest == "" || path.Clean(rest) != rest || strings.HasPrefix(rest, "..") || slices.Contains(strings.Split(rest, "/"), ".git") ||
		tree != path.Join("/", above, rest) {
		return "leads to a work tree elsewhere"
	}
	return ""
}
