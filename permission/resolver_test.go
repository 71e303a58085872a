package permission

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// The same verdict on every surface: a policy, compiled, says of every place
// what the path resolver says that gets its configuration.
func TestSameAsResolver(t *testing.T) {
	root := t.TempDir()
	genPath := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "É", "x.pem"}), 1, 3).Draw(t, "path"), "/")
	})
	genGlob := rapid.Custom(func(t *rapid.T) string {
		segs := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "B", "é", "*", "**", "*.pem", "?", "[ab]", "{a,b}", "x.*"}), 1, 3).Draw(t, "glob")
		return strings.Join(segs, "/")
	})
	genAt := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "A", "b", "É", "é", "x.pem", "X.PEM", ".git", "config"}), 1, 4).Draw(t, "place"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		p := compileDocument(t, Document{Version: 1, Extends: "sandboxed", FS: &FS{
			Write: list(genPath).Draw(t, "write"), Hide: list(genGlob).Draw(t, "hide"), Protect: list(genGlob).Draw(t, "protect"),
			Read: maybe(t, "read", rapid.SliceOfN(genPath, 1, 3)), AskRead: list(genGlob).Draw(t, "ask_read"), AskWrite: list(genGlob).Draw(t, "ask_write"),
		}})
		held, err := p.Resolver(root)
		require.NoError(t, err)
		r, err := pathresolver.New(held.Config)
		if err != nil {
			return // the resolver refuses a write path that is hidden or protected
		}
		defer func() { _ = r.Close() }()
		for range 20 {
			place := genAt.Draw(t, "place")
			if strings.EqualFold(path.Base(place), ".git") {
				continue // as a directory it may be made, as a file hardly; the resolver knows the type
			}
			if places(r).Verdict(place).TraverseOnly {
				continue // seen, since it leads to what may be read
			}
			for i, op := range []access.Op{access.OpRead, access.OpWrite} {
				want := places(r).Decide(op, place, 0)
				if want != nil && (want.Rule == pathresolver.RuleGitContent || want.Rule == pathresolver.RuleGitDir) {
					continue // that rests on what stands there and who made it, which a policy does not know
				}
				got := file(p, []access.Action{access.FSRead, access.FSWrite}[i], place)
				if want != nil && want.Rule == pathresolver.RuleNotReadable && file(p, access.FSRead, place).Code == pathresolver.RuleAsk {
					continue // a glob of ask_read beside fs.read: no list of paths has it
				}
				require.Equal(t, want == nil, got.Allowed(), "%s %s: %v, %s", op, place, want, got.Text())
				if want != nil {
					require.Equal(t, string(want.Rule), string(got.Code), "%s %s", op, place)
				}
			}
		}
	})
}
