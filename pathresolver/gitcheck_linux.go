//go:build !portable

package pathresolver

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/internal/gitindex"
	"github.com/pinfold-dev/pinfold/internal/gitrepo"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// maxGitIndex bounds an index, or packed refs, that are checked, in bytes: those of
// two million files.
const maxGitIndex = 256 << 20

// gitChecks has one large file checked at a time: each is in memory meanwhile.
var gitChecks sync.Mutex

// MoveChecked moves the regular file at name in dir to a place whose content is under
// a rule (GitContent), if its content may stand there. Nobody can change it after the
// check: a copy that nobody else has open takes the new name, and the old name is
// removed. It replaces what is there unless noReplace is set. The caller has decided
// about both names and owns both descriptors. Errors are a *DeniedError or plain errno
// values; nothing has changed then.
func (r inside) MoveChecked(dir int, name string, toDir int, toName, to string, noReplace bool) error {
	src, err := r.openIn(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|always)
	if err != nil {
		return err
	}
	defer unix.Close(src)
	var st unix.Stat_t
	if err := fsat.Fstat(src, &st); err != nil {
		return err
	}
	content := r.gitContent(to)
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return r.gitDenied(access.OpRename, to, RuleGitDir, "it is a regular file")
	case st.Size > maxGitIndex || content != resolved.GitIndex && content != resolved.GitRefs && st.Size > maxGitText:
		return r.gitDenied(access.OpRename, to, RuleGitContent, "it is too large to be checked")
	}
	if st.Size > maxGitText {
		gitChecks.Lock()
		defer gitChecks.Unlock()
	}
	temp := ""
	out, err := fsat.Openat(toDir, ".", unix.O_RDWR|unix.O_TMPFILE, 0o600)
	if err != nil { // not every file system can
		temp, out, err = createTemp(toDir, 0o600)
	}
	if err != nil {
		return err
	}
	defer unix.Close(out)
	if err = copyWhole(out, src); err == nil {
		err = r.checkCopy(content, to, out)
	}
	if err == nil {
		// git tells by the time of its index which files may have changed since.
		err = unix.UtimesNanoAt(unix.AT_FDCWD, fsat.ProcPath(out), []unix.Timespec{st.Atim, st.Mtim}, 0)
	}
	if err == nil && temp == "" {
		temp = tempPrefix + rand.Text()
		err = linkat(out, toDir, temp)
	}
	if err == nil {
		flags := uint(0)
		if noReplace {
			flags = unix.RENAME_NOREPLACE
		}
		err = fsat.Retry(func() error { return unix.Renameat2(toDir, temp, toDir, toName, flags) })
	}
	if err != nil {
		if temp != "" {
			_ = unlink(toDir, temp, 0)
		}
		return err
	}
	_ = r.unlinkFile(dir, name) // what it was has its new name already
	return nil
}

// checkCopy checks a copy that nobody else has open. Of an index it leaves out the
// extensions that git should not believe.
func (r *Resolver) checkCopy(content resolved.GitContent, to string, out int) error {
	var st unix.Stat_t
	if err := fsat.Fstat(out, &st); err != nil {
		return err
	}
	if st.Size == 0 && content == resolved.GitIndex {
		return r.gitDenied(access.OpRename, to, RuleGitContent, "it is empty, which is no index")
	}
	var data []byte
	if st.Size > 0 {
		mapped, err := unix.Mmap(out, 0, int(st.Size), unix.PROT_READ, unix.MAP_PRIVATE)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Munmap(mapped) }()
		data = mapped
	}
	switch content {
	case resolved.GitIndex:
		clean, err := gitindex.Check(data, r.gitHash(to))
		if err != nil {
			return r.gitDenied(access.OpRename, to, RuleGitContent, "the index "+err.Error())
		}
		if len(clean) == len(data) {
			return nil
		}
		if _, err := fsat.Pwrite(out, clean, 0, false); err != nil {
			return err
		}
		return fsat.Retry(func() error { return unix.Ftruncate(out, int64(len(clean))) })
	case resolved.GitRefs:
		return r.checkRefs(to, data)
	case resolved.GitTables:
		return r.checkTables(to, data)
	case resolved.GitConfig:
		return r.checkGitConfig(to, bytes.Clone(data))
	case resolved.GitLink, resolved.GitCommonDir, resolved.GitTreeLink, resolved.GitNumber:
		if d := r.checkGitText(to, bytes.Clone(data)); d != nil {
			return d
		}
		return nil
	}
	return r.gitDenied(access.OpRename, to, RuleGitContent, "nothing is known of it")
}

// checkRefs checks packed refs (git-pack-refs(1)): each is beneath refs, where
// MERGE_AUTOSTASH and the like are not, and none replaces an object.
func (r *Resolver) checkRefs(to string, data []byte) error {
	for line := range bytes.Lines(data) {
		if line[0] == '#' || line[0] == '^' {
			continue
		}
		_, name, _ := bytes.Cut(line, []byte(" "))
		if !bytes.HasPrefix(name, []byte("refs/")) || bytes.HasPrefix(name, []byte("refs/replace/")) {
			return r.gitDenied(access.OpRename, to, RuleGitContent, "packed refs are beneath refs, and replace no object (git-replace(1)), which would show other content on the host than is pushed")
		}
	}
	return nil
}

// tableName is what git and JGit call a table of a reftable.
var tableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z-]+\.(ref|log)$`) })

// checkTables checks the list of a reftable's tables: each lies beside it.
func (r *Resolver) checkTables(to string, data []byte) error {
	for line := range bytes.Lines(data) {
		if !tableName().Match(bytes.TrimSuffix(line, []byte("\n"))) {
			return r.gitDenied(access.OpRename, to, RuleGitContent, "the tables of a reftable lie beside their list: git on the host removes what it names once it has written one table in their place")
		}
	}
	return nil
}

// gitHash is the object format of the repository that an index is of, as its
// configuration has it.
func (r *Resolver) gitHash(index string) gitindex.Hash {
	dir, _ := splitPlace(index)
	if tree, name := splitPlace(dir); name != "" {
		if common, worktrees := splitPlace(tree); worktrees == "worktrees" {
			dir = common
		}
	}
	fd, err := r.openPlace(joinPlace(dir, "config"), unix.O_RDONLY|unix.O_NOFOLLOW|always, 0)
	if err != nil {
		return gitindex.SHA1
	}
	defer unix.Close(fd)
	buf := make([]byte, maxGitText)
	n, _ := fsat.Pread(fd, buf, 0)
	if gitrepo.IsSHA256(buf[:max(n, 0)]) {
		return gitindex.SHA256
	}
	return gitindex.SHA1
}

// checkGitConfig says whether text may be the configuration of the git directory
// that the place to lies in.
func (r *Resolver) checkGitConfig(to string, text []byte) error {
	dir, _ := splitPlace(to)
	if gitrepo.IsSHA256(text) != (r.gitHash(joinPlace(dir, "index")) == gitindex.SHA256) {
		names := r.git.list(dir)
		for _, name := range append(names, "index") {
			_, _, there := r.git.at(joinPlace(dir, name))
			name = fold(name)
			if there && (name == "index" || name == "worktrees" || strings.HasPrefix(name, "sharedindex.")) || len(names) == maxGitNames {
				return r.gitDenied(access.OpRename, to, RuleGitContent, "the object format of a repository that has an index does not change: the index would mean other paths")
			}
		}
	}
	paths, err := gitrepo.CheckMade(text, r.root, dir)
	for _, path := range paths {
		if place, in := r.placeOf(path); err == nil && in && !r.isStraight(place) {
			err = fmt.Errorf("the remote %q is reached over a link", EscapePath(path))
		}
	}
	if err != nil {
		return r.gitDenied(access.OpRename, to, RuleGitContent, "in the configuration of a repository that was made here, "+err.Error())
	}
	return nil
}

// isStraight reports whether the way to a place passes no link, and keeps one from
// being made there as long as this resolver is used.
func (r *Resolver) isStraight(place string) bool {
	if !r.git.ways.addWithin("a remote of a repository", place) {
		return false
	}
	for ; place != "."; place, _ = splitPlace(place) {
		if _, typ, there := r.git.at(place); there && typ != 0 && typ != fs.ModeDir {
			return false
		}
	}
	return true
}

// SameGitConfig reports whether a refused move would change nothing. It is for "git
// submodule update", which writes core.worktree into a submodule's configuration each
// time, with the value that is there already. The move is that of the lock at name in
// dir, whose place is from, to the configuration at toName in toDir. If the text is
// the same the caller may remove the lock and report success, since nothing that is
// protected changes.
func (r inside) SameGitConfig(dir int, name, from string, toDir int, toName, to string) bool {
	if r.git == nil || from != to+".lock" {
		return false
	}
	at, ok := r.git.named(to)
	if _, last := splitPlace(at.rest); !ok || last != "config" || !strings.HasPrefix(at.rest, "modules/") {
		return false
	}
	written, ok := r.gitText(dir, name)
	if !ok {
		return false
	}
	there, ok := r.gitText(toDir, toName)
	return ok && bytes.Equal(written, there)
}

// gitText reads a regular file of a bounded size.
func (r *Resolver) gitText(dir int, name string) ([]byte, bool) {
	fd, err := r.openIn(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|always)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := fsat.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > maxGitText {
		return nil, false
	}
	text := make([]byte, st.Size+1)
	n, err := fsat.Pread(fd, text, 0)
	return text[:max(n, 0)], err == nil && int64(n) == st.Size
}
