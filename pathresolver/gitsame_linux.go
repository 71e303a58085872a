//go:build !portable

package pathresolver

import (
	"bytes"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// SameGitConfig reports whether what is at name in dir, the place from, is the lock
// of a submodule's configuration, and has the text that this has already, at toName
// in toDir. "git submodule update" writes core.worktree there each time, as it was.
// Whoever refuses the move may then remove the lock and say that it is done: nothing
// that is protected changes.
func (r *Resolver) SameGitConfig(dir int, name, from string, toDir int, toName, to string) bool {
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
