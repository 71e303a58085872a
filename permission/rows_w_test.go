package permission

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// W1 reads only within cwd, W2 writes only within write paths, W4 without any
// read-only, W7 for root agents and children alike.
func TestReadAndWritePaths(t *testing.T) {
	p := preset(t, "sandboxed", "out")
	child, _, err := p.Child(preset(t, "sandboxed", "out/sub"), Reject)
	require.NoError(t, err)
	for _, who := range []*Policy{p, child} {
		require.Equal(t, access.Allow, file(who, access.FSRead, "src/a.go").Effect)
		require.Equal(t, pathresolver.RuleOutsideRoot, file(who, access.FSRead, "/etc/passwd").Code)
		require.Equal(t, pathresolver.RuleOutsideRoot, file(who, access.FSRead, "../x").Code)
		for _, a := range access.ActionsOf(access.KindWrite) {
			require.Equal(t, access.Allow, file(who, a, "out/sub/x").Effect)
			require.Equal(t, pathresolver.RuleNoWritePath, file(who, a, "src/a.go").Code)
			require.Equal(t, pathresolver.RuleNoWritePath, file(who, a, "out2/x").Code, "a prefix is no path")
			require.Equal(t, pathresolver.RuleOutsideRoot, file(who, a, "/out/x").Code)
			require.Equal(t, pathresolver.RuleNoWritePath, file(preset(t, "sandboxed"), a, "out/x").Code)
		}
	}
	require.Equal(t, pathresolver.RuleNoWritePath, file(child, access.FSWrite, "out/x").Code, "the child has less")
}

// A path that nobody has resolved is no place, and is refused.
func TestOnlyPlacesAreDecided(t *testing.T) {
	p := preset(t, "trusted")
	require.Equal(t, access.Allow, file(p, access.FSWrite, "a/b").Effect)
	for _, bad := range []string{"", "a//b", "a/./b", "a/../b", "./a", "a/", "a\x00b", "//a", "/a/../b"} {
		require.Equal(t, pathresolver.RuleInvalidPath, file(p, access.FSWrite, bad).Code, "%q", bad)
	}
}

// W8: worker needs a write path; trusted asks outside cwd; yolo has the
// operator's rights.
func TestPresetsW8(t *testing.T) {
	_, err := Preset("worker", Options{})
	require.EqualError(t, err, "preset 'worker' needs at least one allowed_write_path")
	_, err = Preset("worker", Options{Caller: &Document{FS: &FS{Write: []string{}}}})
	require.EqualError(t, err, "preset 'worker' needs at least one allowed_write_path")
	require.Equal(t, access.Allow, file(preset(t, "worker", "out"), access.FSWrite, "out/x").Effect)

	trusted, yolo := preset(t, "trusted"), preset(t, "yolo")
	require.Equal(t, access.Allow, file(trusted, access.FSWrite, "any/where").Effect)
	require.Equal(t, access.Ask, file(trusted, access.FSRead, "/etc/hosts").Effect)
	require.Equal(t, access.Ask, file(trusted, access.FSWrite, "../x").Effect)
	require.Equal(t, access.Allow, file(yolo, access.FSWrite, "/etc/hosts").Effect)

	held, err := yolo.Resolver("/p")
	require.NoError(t, err)
	require.True(t, held.NoView)
	held, err = trusted.Resolver("/p")
	require.NoError(t, err)
	require.False(t, held.NoView)
	require.Equal(t, []string{"."}, held.Config.WritePaths)
}

// W3, W10: a write path that leads out fails at creation, with this text.
func TestWritePathOutside(t *testing.T) {
	for _, wp := range []string{"/etc", "/home/me/project-evil", "../out", "a/../../b", "a/..", "..", "/home/me/project/../x"} {
		src := decode(t, "version: 1\nextends: sandboxed\nfs:\n  write:\n    - ok\n    - "+wp)
		_, err := Compile(src, Options{Root: "/home/me/project"})
		var de *DocumentError
		require.ErrorAs(t, err, &de, wp)
		require.Equal(t, "allowed_write_path '"+wp+"' is outside sandbox root '/home/me/project'", de.Problems[0].Message)
		require.Equal(t, access.Position{File: "p.yaml", Line: 6, Column: 7}, de.Problems[0].Position)

		_, err = Preset("sandboxed", Options{Root: "/home/me/project", Caller: &Document{FS: &FS{Write: []string{wp}}}})
		require.ErrorContains(t, err, "is outside sandbox root")
	}
	p, err := Preset("sandboxed", Options{Root: "/home/me/project/", Caller: &Document{FS: &FS{Write: []string{"/home/me/project/src", "./docs/"}}}})
	require.NoError(t, err)
	require.Equal(t, access.Allow, file(p, access.FSWrite, "src/x").Effect)
	held, err := p.Resolver("/home/me/project")
	require.NoError(t, err)
	require.Equal(t, []string{"src", "docs"}, held.Config.WritePaths)
}

// W11: a copy reads its source and writes its destination. W12: a rename
// writes both. W13: the text of a refusal.
func TestTwoPaths(t *testing.T) {
	p := preset(t, "sandboxed", "out")
	check := func(tool string, first access.Action, to string) access.Decision {
		return p.Check(context.Background(), access.Request{Action: first, Resource: "src/a", Tool: tool, Also: []access.Access{{Action: access.FSCreate, Resource: to}}})
	}
	require.True(t, check("copy_file", access.FSRead, "out/a").Allowed())
	require.False(t, check("copy_file", access.FSRead, "src/b").Allowed())
	d := check("rename", access.FSMove, "out/a")
	require.Equal(t, pathresolver.RuleNoWritePath, d.Code)
	require.Equal(t, "src/a", d.Resource, "the path that was refused")
	require.Equal(t, "Path 'src/a' is outside the allowed sandbox for writing; writable: out\n"+
		"rename refused (no_write_path): no write path covers it. Reading is allowed [caller:fs.write, caller]\n"+
		"To allow it, add the write path 'src/a'", d.Text())
	require.Equal(t, "Path 'a\\nb' is outside the allowed sandbox for writing; ", file(p, access.FSWrite, "a\nb").Text()[:56])
	require.ErrorIs(t, d.Err(), fs.ErrPermission)
	require.NoError(t, check("copy_file", access.FSRead, "out/a").Err())
}

// M11: hooks, git's configuration and the policy in force are not written,
// whatever a policy says.
func TestAlwaysProtectedM11(t *testing.T) {
	fsys := fstest.MapFS{
		"agents/p.yaml":    {Data: []byte("version: 1\nextends: base.yaml\nfs: {write: [.]}")},
		"agents/base.yaml": {Data: []byte("version: 1\nextends: trusted")},
	}
	p, err := Load(fsys, "agents/p.yaml", Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"trusted", "base", "p"}, layerNames(p))
	for _, place := range []string{".git/hooks/pre-commit", ".git/config", ".GIT/config", "agents/p.yaml", "agents/base.yaml", "Agents/P.yaml"} {
		require.Equal(t, pathresolver.RuleProtected, file(p, access.FSWrite, place).Code, place)
		require.Equal(t, access.Allow, file(p, access.FSRead, place).Effect, place)
	}
	require.Equal(t, access.Allow, file(p, access.FSWrite, "agents/q.yaml").Effect)
	sly, err := Load(fstest.MapFS{"preset:trusted": {Data: []byte("version: 1\nextends: trusted")}}, "preset:trusted", Options{})
	require.NoError(t, err)
	require.Equal(t, pathresolver.RuleProtected, file(sly, access.FSWrite, "preset:trusted").Code, "whatever the file is called")
	held, err := p.Resolver("/r")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"agents/p.yaml", "agents/base.yaml"}, held.Config.Protect)
}

// Extending: files beside the document, no cycles, no escape.
func TestExtends(t *testing.T) {
	fsys := fstest.MapFS{
		"a.yaml":     {Data: []byte("version: 1\nextends: b.yaml")},
		"b.yaml":     {Data: []byte("version: 1\nextends: a.yaml")},
		"typo.yaml":  {Data: []byte("version: 1\nextends: sandbxed")},
		"out.yaml":   {Data: []byte("version: 1\nextends: ../x.yaml")},
		"bad.yaml":   {Data: []byte("version: 1\nextends: worse.yaml")},
		"worse.yaml": {Data: []byte("version: 1\nfs: {writ: []}")},
	}
	for name, want := range map[string]string{
		"a.yaml":    "b.yaml:2:1: extends: 'a.yaml' extends itself",
		"typo.yaml": "typo.yaml:2:1: extends: 'sandbxed' cannot be read: file does not exist (did you mean 'sandboxed'?)",
		"out.yaml":  "out.yaml:2:1: extends: '../x.yaml' lies outside the project, where nothing is read",
		"bad.yaml":  "worse.yaml:2:6: unknown key 'writ' in fs (did you mean 'write'?)",
	} {
		_, err := Load(fsys, name, Options{})
		require.ErrorContains(t, err, want)
	}
	_, err := Load(fsys, "missing.yaml", Options{})
	require.True(t, errors.Is(err, fs.ErrNotExist))
}

// Where a document lists its own write paths, the caller's narrow them and
// never widen them.
func TestCallerNarrows(t *testing.T) {
	src := decode(t, "version: 1\nextends: sandboxed\nfs: {write: [docs, src]}")
	p, err := Compile(src, Options{Caller: &Document{FS: &FS{Write: []string{"src/a", "lib"}}}})
	require.NoError(t, err)
	require.Equal(t, access.Allow, file(p, access.FSWrite, "src/a/x").Effect)
	for _, place := range []string{"src/b", "docs/x", "lib/x"} {
		require.Equal(t, pathresolver.RuleNoWritePath, file(p, access.FSWrite, place).Code, place)
	}
	held, err := p.Resolver("/r")
	require.NoError(t, err)
	require.Equal(t, []string{"src/a"}, held.Config.WritePaths)
}

// What a caller gives beside a list that lacks it is told: it takes away all
// that is listed.
func TestCallerUnlisted(t *testing.T) {
	compiled := func(text string, write ...string) *Policy {
		p, err := Compile(decode(t, text), Options{Root: "/p", Caller: &Document{FS: &FS{Write: write}}})
		require.NoError(t, err)
		return p
	}
	const lists, leaves = "version: 1\nextends: sandboxed\nfs: {write: [docs, src]}", "version: 1\nextends: sandboxed"
	p := compiled(lists, "src/a", "/p/lib", ".", "docs/", ".git")
	list := access.Position{File: "p.yaml", Line: 3, Column: 6}
	require.Equal(t, []policies.Unlisted{{Index: 1, Path: "lib", List: list}, {Index: 2, Path: ".", List: list}, {Index: 4, Path: ".git", List: list}}, inside{p}.Unlisted())
	at, ok := inside{p}.WriteList()
	require.True(t, ok)
	require.Equal(t, list, at)
	require.Empty(t, inside{compiled(lists, "src/a", "docs")}.Unlisted())

	p = compiled(leaves, "lib", ".git")
	require.Empty(t, inside{p}.Unlisted())
	_, ok = inside{p}.WriteList()
	require.False(t, ok)
	require.Empty(t, inside{compiled("version: 1\nextends: WRITE", ".git", "lib")}.Unlisted())
	require.Len(t, inside{compiled("version: 1\nextends: READ_ONLY", "lib")}.Unlisted(), 1)
}

// What is asked for is refused until it is answered, on every surface.
func TestAskIsRefusedInTheView(t *testing.T) {
	p := compile(t, "version: 1\nextends: sandboxed\nfs: {write: [.], ask_write: [src], ask_read: [keys], hide: ['**/.env'], protect: [docs/L]}")
	require.Equal(t, access.Ask, file(p, access.FSWrite, "src/x").Effect)
	require.Equal(t, access.Ask, file(p, access.FSRead, "keys/x").Effect)
	require.Equal(t, access.Allow, file(p, access.FSWrite, "lib/x").Effect)
	held, err := p.Resolver("/r")
	require.NoError(t, err)
	require.Equal(t, []string{"**/.env"}, held.Config.Hide)
	require.Equal(t, []string{"docs/L", "p.yaml"}, held.Config.Protect)
	require.Equal(t, []string{"keys"}, held.Config.AskRead)
	require.Equal(t, []string{"src"}, held.Config.AskWrite)
	require.Equal(t, access.Position{File: "p.yaml", Line: 3, Column: 47}, held.Positions["ask_read[0]"])

	// Where nobody is to be asked it is never allowed.
	off := compile(t, "version: 1\nextends: sandboxed\nfs: {ask_write: [src], ask_read: [keys]}\napprovals: {default: deny}")
	require.Equal(t, codeApprovalsOff, file(off, access.FSWrite, "src/x").Code)
	held, err = off.Resolver("/r")
	require.NoError(t, err)
	require.Equal(t, []string{"keys"}, held.Config.Hide)
	require.Equal(t, []string{"src", "p.yaml"}, held.Config.Protect)
	require.Nil(t, held.Config.AskRead)
	require.Nil(t, held.Config.AskWrite)
}

// Of what one document lets be asked for only that can be which no other
// refuses (M5).
func TestAskOfAChain(t *testing.T) {
	for _, c := range []struct {
		outer, inner string
		asks, write  []string
	}{
		{"write: [docs], ask_write: [src]", "write: [docs, src]", []string{"src"}, []string{"docs"}},
		{"write: [docs, src]", "write: [docs], ask_write: [src]", []string{"src"}, []string{"docs"}},
		{"write: [docs]", "write: [docs], ask_write: [src]", nil, []string{"docs"}},
		{"write: [src/gen]", "ask_write: [src]", []string{"src/gen"}, nil},
		{"ask_write: [src, lib]", "write: [lib, docs]", []string{"lib"}, nil},
		{"write: [docs]", "ask_write: [docs]", []string{"docs"}, nil},
		{"write: [docs]", "ask_write: ['**/*.md']", []string{"**/*.md"}, []string{"docs"}},
		// Another document's spelling of a place does not lift the rule.
		{"ask_write: [SRC]", "write: [src]", []string{"SRC"}, nil},
		{"write: [src]", "ask_write: [SRC/Gen]", []string{"SRC/Gen"}, []string{"src"}},
		{"write: [Src/gen]", "ask_write: [src]", []string{"Src/gen"}, []string{"Src/gen"}},
	} {
		outer := compile(t, "version: 1\nfs: {read: [.], "+c.outer+"}")
		p, _, err := outer.Narrow(decode(t, "version: 1\nfs: {"+c.inner+"}"), Clamp)
		require.NoError(t, err)
		held, err := p.Resolver("/r")
		require.NoError(t, err)
		require.Equal(t, c.asks, held.Config.AskWrite, "%s | %s", c.outer, c.inner)
		require.Equal(t, c.write, held.Config.WritePaths, "%s | %s", c.outer, c.inner)
	}
}

// What fs.read does not cover does not exist for the view, and is not written.
func TestReadPathsAreHeld(t *testing.T) {
	p := compile(t, "version: 1\nextends: sandboxed\nfs: {read: [docs, src/lib], write: [docs/out, src], ask_read: [keys]}")
	held, err := p.Resolver("/r")
	require.NoError(t, err)
	require.Equal(t, []string{"docs", "src/lib", "keys"}, held.Config.ReadPaths)
	require.Equal(t, []string{"docs/out", "src/lib"}, held.Config.WritePaths)
	require.Equal(t, []string{"keys"}, held.Config.AskRead)
	require.Equal(t, access.Position{File: "p.yaml", Line: 3, Column: 19}, held.Positions["read_paths[1]"])
}

// What no list of paths can express is refused, not approximated.
func TestUnheld(t *testing.T) {
	for text, want := range map[string]string{
		"fs: {write: ['src/*.go']}": "p.yaml:3:14: write glob 'src/*.go' cannot be held by a view",
		"fs: {read: ['src/*.go']}":  "p.yaml:3:13: read glob 'src/*.go' cannot be held by a view",
	} {
		_, err := compile(t, "version: 1\nextends: sandboxed\n"+text).Resolver("/r")
		var unheld *unheldError
		require.ErrorAs(t, err, &unheld)
		require.ErrorContains(t, err, want)
	}
	_, err := compile(t, "version: 1\nfs: {write: [src]}").Resolver("/r")
	require.ErrorContains(t, err, "lets nothing be read")
	held, err := compile(t, "version: 1\nextends: sandboxed\nfs: {write: ['src/**', .git]}").Resolver("/r")
	require.NoError(t, err)
	require.Equal(t, []string{"src"}, held.Config.WritePaths)
	require.True(t, held.Config.Git)
}
