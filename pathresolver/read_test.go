package pathresolver_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Rows L of the attack catalogue: what must work.
func TestReadWhatIsInside(t *testing.T) {
	_, root := scene(t, "l => ok.txt", "ld => sub", "sub/up => ../sub/deep", "..data = dots",
		"k/..2024/f = kube", "k/..data => ..2024", "k/f => ..data/f")
	tree(t, root, "abs => "+filepath.Join(root, "ok.txt"))
	for i := range 40 {
		target := fmt.Sprintf("chain%d", i-1)
		if i == 0 {
			target = "ok.txt"
		}
		tree(t, root, fmt.Sprintf("chain%d => %s", i, target))
	}
	modes(t, pathresolver.Config{Root: root}, func(t *testing.T, r *pathresolver.Resolver) {
		for path, want := range map[string]string{
			"ok.txt":                      "ok",   // L01
			"l":                           "ok",   // L02
			"ld/x":                        "subx", // L03
			"sub/../ok.txt":               "ok",   // L04
			"ld/../ok.txt":                "ok",   // L05
			"sub/up/../x":                 "subx", // L05: physical, not lexical
			filepath.Join(root, "ok.txt"): "ok",   // L06
			"abs":                         "ok",   // L07
			"chain7":                      "ok",   // L09
			"chain11":                     "ok",   // L10
			"chain39":                     "ok",   // L11: 40 links
			"..data":                      "dots", // L18
			"k/f":                         "kube", // L21
			"./sub//x":                    "subx",
		} {
			got, err := r.ReadFile(path)
			require.NoError(t, err, path)
			require.Equal(t, want, string(got), path)
		}
		deep := strings.Repeat("sub/../", 300) + "ok.txt" // L20
		got, err := r.ReadFile(deep)
		require.NoError(t, err)
		require.Equal(t, "ok", string(got))
		list, err := r.ReadDir(".") // L16
		require.NoError(t, err)
		require.NotEmpty(t, list)
		for _, e := range list {
			_, err := e.Info()
			require.NoError(t, err)
		}
		_, err = r.Stat("a")
		require.NoError(t, err)
		info, err := r.Lstat("l")
		require.NoError(t, err)
		require.Equal(t, fs.ModeSymlink, info.Mode().Type())
	})
}

// Rows A and B: what must not.
func TestReadOutsideIsRefused(t *testing.T) {
	base, root := scene(t, "out-rel => ../outside/secret", "ld => ../outside", "rootlink => /", "loop => loop2", "loop2 => loop")
	tree(t, root, "out-abs => "+filepath.Join(base, "outside/secret"), "proc => /proc/self/root")
	outside := pathresolver.RuleOutsideRoot
	escape := pathresolver.RuleSymlinkEscape
	modes(t, pathresolver.Config{Root: root}, func(t *testing.T, r *pathresolver.Resolver) {
		for path, rule := range map[string]access.Code{
			"../outside/secret":                      outside,                      // A01
			filepath.Join(base, "outside/secret"):    outside,                      // A02
			"sub/../../outside/secret":               outside,                      // A03
			filepath.Join(base, "root-evil/secret"):  outside,                      // A04
			"../root-evil/secret":                    outside,                      // A05
			strings.Repeat("../", 64) + "etc/passwd": outside,                      // A07
			"":                                       pathresolver.RuleInvalidPath, // A08
			"ok.txt\x00":                             pathresolver.RuleInvalidPath, // A09
			"out-abs":                                escape,                       // B01
			"out-rel":                                escape,                       // B02
			"ld/secret":                              escape,                       // B03
			"ld/../outside/secret":                   escape,                       // B05
			"ld/":                                    escape,                       // B06
			"rootlink" + filepath.Join(base, "outside/secret"): escape, // B08
			"proc/etc/passwd": escape,
		} {
			_, err := r.ReadFile(path)
			d := denied(t, err, rule)
			require.Equal(t, path, d.Path)
			require.NotContains(t, strings.ReplaceAll(d.Error(), pathresolver.EscapePath(path), ""), base)
			_, err = r.Stat(path)
			denied(t, err, rule)
			if path != "" && !strings.Contains(path, "\x00") && !strings.HasPrefix(path, "rootlink") {
				full := path
				if !filepath.IsAbs(path) {
					full = root + "/" + path
				}
				_, err = os.Stat(full)
				require.NoError(t, err, "without the guard it works")
			}
		}
		_, err := r.ReadFile("nope/../ok.txt") // A12
		require.ErrorIs(t, err, fs.ErrNotExist)
		for _, p := range []string{"ok.txt/../x", "ok.txt/", "loop"} { // A13 A14 B26
			_, err = r.ReadFile(p)
			require.Error(t, err, p)
		}
		_, err = r.ReadFile("~/.profile") // A15
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
}
