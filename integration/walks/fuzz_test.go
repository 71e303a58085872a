package walks

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// long says that this is the long run: `make long`.
var long = os.Getenv("PINFOLD_LONG") != ""

// FuzzWalkerVsKernel makes a tree from one string of bytes and paths from
// another, and asks everybody who knows where those paths lead: the resolver
// by openat2, the resolver by its walker, the kernel itself, os.Root.
func FuzzWalkerVsKernel(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomBytes(seed, 60), randomBytes(seed+1000, 80))
	}
	f.Fuzz(compareWalks)
}

// TestWalkerVsKernel is the same on random input, for the ordinary run.
func TestWalkerVsKernel(t *testing.T) {
	n := uint64(400)
	if long {
		n = 20_000
	}
	paths := 0
	for seed := range n {
		paths += compare(t, randomBytes(seed, 20+int(seed%80)), randomBytes(seed+n, 120))
	}
	fmt.Printf("[table] walker against kernel: %d trees, %d paths, no difference\n", n, paths)
}

func randomBytes(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func compareWalks(t *testing.T, tree, paths []byte) { compare(t, tree, paths) }

// compare returns how many paths it compared.
func compare(t *testing.T, tree, paths []byte) (compared int) {
	base, err := os.MkdirTemp("", "pinfold-fuzz-")
	require.NoError(t, err)
	defer os.RemoveAll(base)
	w := &walks{t: t, base: base, root: base + "/root"}
	w.grow(reader{tree})
	w.open()
	defer w.close()
	for src := (reader{paths}); len(src.b) > 0 && compared < 60; compared++ {
		w.compare(w.path(&src))
	}
	return compared
}

// walks is one tree and everybody who walks it.
type walks struct {
	t          *testing.T
	base, root string
	dirfd      int
	kernel     *pathresolver.Resolver // by openat2
	walker     *pathresolver.Resolver
	osRoot     *os.Root
}

func (w *walks) open() {
	var err error
	cfg := pathresolver.Config{Root: w.root, WritePaths: []string{"wr"}}
	w.kernel, err = pathresolver.New(cfg)
	require.NoError(w.t, err)
	cfg.ForceWalker = true
	w.walker, err = pathresolver.New(cfg)
	require.NoError(w.t, err)
	w.osRoot, err = os.OpenRoot(w.root)
	require.NoError(w.t, err)
	w.dirfd, err = unix.Open(w.root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	require.NoError(w.t, err)
}

func (w *walks) close() {
	_ = unix.Close(w.dirfd)
	_ = w.osRoot.Close()
	require.NoError(w.t, errors.Join(w.kernel.Close(), w.walker.Close()))
}

// compare holds the answers for one path against each other.
func (w *walks) compare(p string) {
	for verb, ask := range map[string]func(*pathresolver.Resolver) answer{
		"stat":     func(r *pathresolver.Resolver) answer { return answered(r.Stat(p)) },
		"lstat":    func(r *pathresolver.Resolver) answer { return answered(r.Lstat(p)) },
		"open":     func(r *pathresolver.Resolver) answer { return opened(r.Open(p)) },
		"write":    func(r *pathresolver.Resolver) answer { return opened(r.OpenFile(p, os.O_WRONLY, 0)) },
		"readlink": func(r *pathresolver.Resolver) answer { return read(r.Readlink(p)) },
		"why read": func(r *pathresolver.Resolver) answer { return decided(resolved.Explain(r, access.OpRead, p)) },
		"why make": func(r *pathresolver.Resolver) answer { return decided(resolved.Explain(r, access.OpCreate, p)) },
	} {
		a, b := ask(w.kernel), ask(w.walker)
		require.Equal(w.t, a, b, "%s %q: openat2 against walker in %s", verb, p, w)
	}
	ours := answered(w.walker.Stat(p))
	w.againstKernel(p, ours)
	if info, err := w.osRoot.Stat(p); err == nil && !strings.HasPrefix(p, "/") {
		require.Equal(w.t, answered(info, nil), ours, "stat %q: os.Root against walker in %s", p, w)
	}
}

// againstKernel asks openat2 itself. It knows less than the resolver: an
// absolute link that leads back inside is EXDEV to it.
func (w *walks) againstKernel(p string, ours answer) {
	if strings.HasPrefix(p, "/") {
		return
	}
	var st unix.Stat_t
	fd, err := -1, error(unix.EAGAIN)
	for err == unix.EAGAIN { // renames anywhere in the system disturb a walk with ".."
		fd, err = unix.Openat2(w.dirfd, p, &unix.OpenHow{
			Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
		})
	}
	if err == nil {
		err = unix.Fstat(fd, &st)
		_ = unix.Close(fd)
	}
	switch {
	case err == nil:
		require.Equal(w.t, answer{dev: st.Dev, ino: st.Ino}, ours, "stat %q: kernel against walker in %s", p, w)
	case err == unix.EXDEV && ours.rule == "":
		require.False(w.t, w.outside(ours), "stat %q leads outside in %s", p, w)
	case err != unix.EXDEV:
		require.Equal(w.t, err.(syscall.Errno), ours.errno, "stat %q: kernel against walker (%+v) in %s", p, ours, w)
	}
}

// outside reports whether a is one of the files beside the root.
func (w *walks) outside(a answer) bool {
	for _, p := range []string{"", "/outside", "/outside/a", "/outside/b"} {
		info, err := os.Stat(w.base + p)
		require.NoError(w.t, err)
		if answered(info, nil) == a {
			return true
		}
	}
	return false
}
