//go:build !portable

package fileskills

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

const victimEnv = "PINFOLD_TEST_PATCH_VICTIM"

// versionFiles are what a tree of version n holds: every patch of the victim
// updates three files, makes one, moves one and deletes one.
func versionFiles(n int) map[string]string {
	body := strings.Repeat(fmt.Sprintf("version %d\n", n), 2000)
	return map[string]string{
		"out/a": body, "out/b": body, "out/sub/c": body,
		fmt.Sprintf("out/new%d", n):       body,
		fmt.Sprintf("out/dir%d/moved", n): body,
	}
}

func versionPatch(n int) args {
	var b strings.Builder
	body := func(sign string, n int) string {
		return strings.Repeat(fmt.Sprintf("%sversion %d\n", sign, n), 2000)
	}
	for _, name := range []string{"a", "b", "sub/c"} {
		fmt.Fprintf(&b, "*** Update File: out/%s\n@@\n%s%s", name, body("-", n), body("+", n+1))
	}
	fmt.Fprintf(&b, "*** Add File: out/new%d\n%s", n+1, body("+", n+1))
	fmt.Fprintf(&b, "*** Delete File: out/new%d\n", n)
	fmt.Fprintf(&b, "*** Update File: out/dir%d/moved\n*** Move to: out/dir%d/moved\n@@\n%s%s", n, n+1, body("-", n), body("+", n+1))
	return patchOf(strings.TrimSuffix(b.String(), "\n"))
}

// TestPatchVictim is the process that gets killed: it patches for ever. In an
// ordinary run of the tests it does nothing.
func TestPatchVictim(t *testing.T) {
	base := os.Getenv(victimEnv)
	if base == "" {
		return
	}
	set := openVictim(t, base)
	n := versionOf(t, base)
	fmt.Println("ready")
	for ; ; n++ {
		input, err := json.Marshal(versionPatch(n))
		require.NoError(t, err)
		_, err = set.Call(context.Background(), "apply_patch", input)
		require.NoError(t, err)
		fmt.Println("patched")
	}
}

func openVictim(t *testing.T, base string) *Set {
	r, err := pathresolver.New(pathresolver.Config{Root: filepath.Join(base, "root"), WritePaths: []string{"out"}})
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	set, err := New(Config{Resolver: r, Enable: []string{"apply_patch"}, StateDir: filepath.Join(base, "state")})
	require.NoError(t, err)
	return set
}

func versionOf(t *testing.T, base string) int {
	raw, err := os.ReadFile(filepath.Join(base, "root", "out", "a"))
	require.NoError(t, err)
	var n int
	_, err = fmt.Sscanf(string(raw), "version %d", &n)
	require.NoError(t, err)
	return n
}

// Under kill -9 at any moment each file has its old or its new content, and the
// next start leaves all old or all new.
func TestPatchKilled(t *testing.T) {
	const rounds = 200
	w := &world{t: t, base: t.TempDir()}
	w.root = filepath.Join(w.base, "root")
	for name, content := range versionFiles(1) {
		require.NoError(t, os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
		w.write(name, content)
	}
	mixed, journals := 0, 0
	span := 20 * time.Millisecond // that kills are spread over: about two patches, however busy the machine is
	for range rounds {
		switch done := killVictim(t, w.base, rand.N(span)); {
		case done == 0:
			span += span / 4
		case done > 1:
			span -= span / 4
		}
		if w.mixed() > 0 {
			mixed++
		}
		left, err := filepath.Glob(filepath.Join(w.base, "state", "*", "*.*do"))
		require.NoError(t, err)
		journals += len(left)

		w.set = openVictim(t, w.base)
		w.noJournal()
		n := versionOf(t, w.base)
		want, have := versions(t, versionFiles(n)), versions(t, w.tree("out"))
		require.Equal(t, want, have)
	}
	t.Logf("%d kills: %d left files of two versions, %d a journal; reached version %d", rounds, mixed, journals, versionOf(t, w.base))
	require.Positive(t, mixed, "no kill fell into a patch: this test shows nothing")
	require.Positive(t, journals)
}

// killVictim starts the victim, kills it some time after it began to patch, and
// returns how many patches it had finished.
func killVictim(t *testing.T, base string, after time.Duration) (done int) {
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.run=^TestPatchVictim$")
	cmd.Env = append(os.Environ(), victimEnv+"="+base)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Equal(t, "ready", lines.Text())
	<-time.After(after)
	require.NoError(t, cmd.Process.Kill())
	for ; lines.Scan(); done++ {
		require.Equal(t, "patched", lines.Text(), "the victim failed by itself")
	}
	_ = cmd.Wait()
	return done
}

// versions is which version each file has. One that has none in full is torn.
func versions(t *testing.T, files map[string]string) map[string]int {
	found := map[string]int{}
	for name, content := range files {
		if strings.HasSuffix(name, "/") {
			continue // a directory whose file has moved stays
		}
		n := 0
		_, _ = fmt.Sscanf(content, "version %d", &n)
		require.True(t, content == strings.Repeat(fmt.Sprintf("version %d\n", n), 2000), "%s is torn: %.40q…", name, content)
		found[name] = n
	}
	return found
}

// mixed returns how many files are of another version than the first: the next
// or the one before.
func (w *world) mixed() int {
	w.t.Helper()
	n, differ := versionOf(w.t, w.base), 0
	files := w.tree("out")
	for name := range files {
		if strings.HasPrefix(filepath.Base(name), ".pinfold-") {
			delete(files, name) // for the next start to remove
		}
	}
	for name, v := range versions(w.t, files) {
		require.InDelta(w.t, n, v, 1, name)
		if v != n {
			differ++
		}
	}
	return differ
}

// What a commit leaves that is killed between giving the content a name and
// moving it, the next start removes, also where nothing is to be restored.
func TestJournalSweeps(t *testing.T) {
	w, c, _ := left(t)
	w.write("out/.pinfold-new", "what a killed commit leaves")
	w.write("out/l/.pinfold-new", "what a killed commit leaves")
	require.NoError(t, w.again(c))
	require.Equal(t, []string{"gone", "l", "u"}, w.names("out"))
	require.Equal(t, []string{"later"}, w.names("out/l"))
}
