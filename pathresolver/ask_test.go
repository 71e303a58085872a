package pathresolver_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// What may be asked for is refused until somebody is there to be asked, by a
// rule of its own: hide and protect go before it, a write path does not.
func TestAskWrite(t *testing.T) {
	_, root := scene(t, "out/lib/keys/k = k", "out/planted/keys/k = evil", "out/x = x", ".env = s", "ask/f = f", "ask/.env = s", "ask/LICENSE = free")
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"out"}, Hide: []string{"**/.env"}, Protect: []string{"ask/LICENSE"},
		AskWrite: []string{"ask", "out/lib/keys"}}
	ask := pathresolver.RuleAsk
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		for _, p := range []string{"ask/f", "ask/new", "out/lib/keys/k", "out/lib/keys/new", "ASK/f"} {
			d := denied(t, r.WriteFile(p, nil, 0o644), ask)
			require.Contains(t, d.Error(), "may be asked for. Reading is allowed")
			denied(t, r.Remove(p), ask)
			denied(t, r.Mkdir(p, 0o755), ask)
			denied(t, r.Chmod(p, 0o600), ask)
			denied(t, r.Symlink("x", p), ask)
			denied(t, r.Rename(p, "out/y", pathresolver.RenameReplace), ask)
			denied(t, r.Rename("out/x", p, pathresolver.RenameReplace), ask)
			denied(t, r.Link("out/x", p), ask)
			require.False(t, r.Explain(access.OpWrite, p).Allowed)
		}
		denied(t, r.RemoveAll("out/lib"), ask)
		denied(t, r.RemoveAll("ask"), ask)
		_, err := r.ReadFile("ask/f")
		require.NoError(t, err)
		_, err = r.ReadFile("ask/.env")
		denied(t, err, pathresolver.RuleHidden)
		denied(t, r.WriteFile("ask/LICENSE", nil, 0o644), pathresolver.RuleProtected)
		denied(t, r.WriteFile("other", nil, 0o644), pathresolver.RuleNoWritePath)
		// I6: nothing leaves its reach by a move, and nothing is planted there.
		denied(t, r.Rename("out/lib", "out/lib2", pathresolver.RenameReplace), pathresolver.RuleEscapes)
		denied(t, r.Rename("out/planted", "out/lib", pathresolver.RenameExchange), pathresolver.RuleEscapes)
		require.Equal(t, []resolved.AskPlace{{Place: "ask", Makes: true}, {Place: "out/lib/keys", Makes: true}}, r.AskPlaces())
	})
	cfg.AskWrite, cfg.WritePaths = nil, []string{"out", "ask"}
	r, err := pathresolver.New(cfg)
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.WriteFile("ask/f", nil, 0o644), "without the rule it works")
	require.NoError(t, r.Rename("out/lib", "out/lib2", pathresolver.RenameReplace))
}

// Of what may be read only after asking names and attributes are seen; the
// content leaves by no verb, nor by a link or a move.
func TestAskRead(t *testing.T) {
	_, root := scene(t, "out/key = SECRET", "out/d/key = SECRET", "out/x = x", "vault/a = SECRET", "vault/sub/b = SECRET", "l => vault/a", "dl => vault")
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"out"}, AskRead: []string{"vault", "**/key"}}
	ask := pathresolver.RuleAsk
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		for _, p := range []string{"vault/a", "vault/sub/b", "out/key", "l", "dl/a", "out/../vault/a", "VAULT/a"} {
			_, err := r.ReadFile(p)
			denied(t, err, ask)
			_, err = r.Open(p)
			denied(t, err, ask)
			_, err = r.OpenRead(p)
			denied(t, err, ask)
			denied(t, allows(r, access.OpRead, p, 0), ask)
			require.Equal(t, ask, r.Explain(access.OpRead, p).Rule)
			if p != "VAULT/a" {
				info, err := r.Stat(p)
				require.NoError(t, err)
				require.EqualValues(t, len("SECRET"), info.Size())
			}
		}
		for _, dir := range []string{"vault", "vault/sub", "dl"} {
			_, err := r.ReadDir(dir)
			denied(t, err, ask)
			_, err = r.OpenDir(dir)
			denied(t, err, ask)
		}
		list, err := r.ReadDir("out")
		require.NoError(t, err)
		require.Equal(t, "d key x", entryNames(list))
		d, err := r.OpenDir("out")
		require.NoError(t, err)
		defer d.Close()
		_, err = d.Open("key")
		denied(t, err, ask)
		_, err = d.Lstat("key")
		require.NoError(t, err)

		denied(t, r.WriteFile("out/key", nil, 0o644), ask)
		denied(t, r.Link("out/key", "out/l"), ask)
		denied(t, r.Rename("out/key", "out/k", pathresolver.RenameReplace), ask)
		denied(t, r.Rename("out/x", "out/key", pathresolver.RenameReplace), ask)
		require.NoError(t, r.Rename("out/d", "out/e", pathresolver.RenameReplace), "**/key reaches it there too")
		require.NoError(t, r.Rename("out/e", "out/d", pathresolver.RenameReplace))
		refusal := denied(t, r.WriteFile("vault/a", nil, 0o644), pathresolver.RuleNoWritePath)
		require.NotContains(t, refusal.Error(), "Reading is allowed")
		require.Equal(t, []resolved.AskPlace{{Place: "."}, {Place: "vault"}}, r.AskPlaces())
	})
	cfg.AskRead = nil
	r, err := pathresolver.New(cfg)
	require.NoError(t, err)
	defer r.Close()
	text, err := r.ReadFile("l")
	require.NoError(t, err)
	require.Equal(t, "SECRET", string(text), "without the rule it is readable")
}

// A write path that lies wholly in what is to be asked for is worth a word, and
// opens nothing.
func TestAskedWritePath(t *testing.T) {
	_, root := scene(t)
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"src", "sub"}, AskWrite: []string{"src"}})
	require.NoError(t, err)
	defer r.Close()
	require.Equal(t, []string{"sub"}, r.WritePaths())
	require.Equal(t, access.Code("path_asked"), r.Warnings()[0].Code)
	denied(t, r.WriteFile("src/x", nil, 0o644), pathresolver.RuleAsk)
	require.NoError(t, r.WriteFile("sub/x", nil, 0o644))
	data, err := os.ReadFile(filepath.Join(root, "src/x"))
	require.NoError(t, err)
	require.Equal(t, "srcx", string(data))
}

// Who arranges a tree learns of each glob where it begins, spelled as it was
// given, and whether it may be asked for to make that place.
func TestAskPlaces(t *testing.T) {
	_, root := scene(t)
	r, err := pathresolver.New(pathresolver.Config{Root: root, Hide: []string{"gone"},
		AskRead:  []string{"./Vault/**", "a/b/*/c", "gone/x"},
		AskWrite: []string{"a/b", "d/*", "d/**/x", "*.lock"}})
	require.NoError(t, err)
	defer r.Close()
	require.Equal(t, []resolved.AskPlace{{Place: ".", Makes: false}, {Place: "Vault", Makes: false}, {Place: "a/b", Makes: true}, {Place: "d", Makes: false}}, r.AskPlaces())
}
