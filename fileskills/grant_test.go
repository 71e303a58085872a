package fileskills_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// checker is a gate of one function.
type checker func(access.Request) access.Decision

func (f checker) Check(_ context.Context, r access.Request) access.Decision { return f(r) }

var allowed = access.Decision{Effect: access.Allow}

// scene is a root with what the tests of grants need, and its skills.
func scene(t *testing.T, cfg pathresolver.Config, skills fileskills.Config) (root string, set *fileskills.Set) {
	t.Helper()
	root = t.TempDir()
	for _, dir := range []string{"src", "docs", "vault"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, dir), 0o755))
	}
	cfg.Root = root
	r, err := pathresolver.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	skills.Resolver = r
	set, err = fileskills.New(skills)
	require.NoError(t, err)
	return root, set
}

func denial(err error) access.Code {
	var denied *pathresolver.DeniedError
	if errors.As(err, &denied) {
		return denied.Rule
	}
	return ""
}

// What a gate grants is for one call and one place, and the next call is without
// it again. Where somebody can be asked, what writes is offered though nothing may
// be written yet.
func TestGateGrantsOneCall(t *testing.T) {
	var asked []access.Access
	ok := false
	gate := checker(func(r access.Request) access.Decision {
		if !r.Asked {
			return allowed
		}
		asked = append(asked, access.Access{Action: r.Action, Resource: r.Resource})
		if ok {
			return allowed
		}
		return access.Decision{}.Refused("denied_by_manager", "not in this release")
	})
	cfg := pathresolver.Config{AskWrite: []string{"src"}, Protect: []string{"src/LICENSE"}}
	root, set := scene(t, cfg, fileskills.Config{Gate: gate, Asked: true, GateGrants: true, Guard: fileskills.GuardRequire})
	_, plain := scene(t, cfg, fileskills.Config{})
	_, narrow := scene(t, cfg, fileskills.Config{Gate: checker(func(access.Request) access.Decision { return allowed })})
	names := func(s *fileskills.Set) (list []string) {
		for _, k := range s.Skills() {
			list = append(list, k.Name)
		}
		return list
	}
	require.NotContains(t, names(plain), "write_file")
	require.Contains(t, names(set), "write_file")
	write := func(set *fileskills.Set, path string) error {
		_, err := set.Call(t.Context(), "write_file", json.RawMessage(`{"path":"`+path+`","content":"x"}`))
		return err
	}

	require.Equal(t, pathresolver.RuleAsk, denial(write(plain, "src/a")))
	require.Equal(t, pathresolver.RuleAsk, denial(write(narrow, "src/a")), "a gate that only narrows grants nothing")
	err := write(set, "src/a")
	require.ErrorContains(t, err, "not in this release")
	require.Equal(t, []access.Access{{Action: access.FSWrite, Resource: "src/a"}}, asked)
	require.NoFileExists(t, filepath.Join(root, "src/a"))

	ok = true
	require.NoError(t, write(set, "src/a"))
	require.Equal(t, pathresolver.RuleProtected, denial(write(set, "src/LICENSE")), "what is denied is not asked for")
	ok = false
	require.Error(t, write(set, "src/b"), "one place is one place")
	require.Error(t, write(set, "src/a"), "one call is one call")

	// Directories on the way are asked for, too, and nothing is made before.
	ok, asked = true, nil
	require.NoError(t, write(set, "src/new/deep/c"))
	require.Equal(t, []access.Access{
		{Action: access.FSWrite, Resource: "src/new/deep/c"}, {Action: access.FSCreate, Resource: "src/new"}, {Action: access.FSCreate, Resource: "src/new/deep"},
	}, asked)

	// What was read is known to every call: the guard is one.
	require.NoError(t, os.WriteFile(filepath.Join(root, "src/a"), []byte("new"), 0o644))
	require.ErrorContains(t, write(set, "src/a"), "src/a")
	_, err = set.Call(t.Context(), "read_file", json.RawMessage(`{"path":"src/a"}`))
	require.NoError(t, err)
	require.NoError(t, write(set, "src/a"))
}

// The gate is asked about the place, and there the skill acts, whatever the path
// leads to by then: a link that is turned while somebody decides, or a directory
// that gives way to one.
func TestGateIsAskedAboutThePlaceOfTheAct(t *testing.T) {
	for _, grants := range []bool{false, true} {
		var root string
		var turn func()
		gate := checker(func(r access.Request) access.Decision {
			if r.Action == access.ToolUse {
				return allowed
			}
			if r.Resource != "docs/a" {
				return access.Decision{}.Refused("", "only docs/a")
			}
			turn()
			return allowed
		})
		cfg := pathresolver.Config{WritePaths: []string{"."}}
		if grants {
			cfg = pathresolver.Config{AskWrite: []string{"docs", "vault"}, AskRead: []string{"docs", "vault"}}
		}
		root, set := scene(t, cfg, fileskills.Config{Gate: gate, Asked: true, GateGrants: grants})
		at := func(name string) string { return filepath.Join(root, name) }
		reset := func() {
			for _, name := range []string{"docs", "vault"} {
				require.NoError(t, os.RemoveAll(at(name)))
				require.NoError(t, os.Mkdir(at(name), 0o755))
				require.NoError(t, os.WriteFile(at(name+"/a"), []byte(name), 0o644))
			}
			_ = os.Remove(at("l"))
			require.NoError(t, os.Symlink("docs", at("l")))
		}
		for what, change := range map[string]func(){
			"nothing": func() {},
			"a link is turned": func() {
				require.NoError(t, os.Remove(at("l")))
				require.NoError(t, os.Symlink("vault", at("l")))
			},
			"the directory gives way to a link": func() {
				require.NoError(t, os.Rename(at("docs"), at("gone")))
				require.NoError(t, os.Symlink("vault", at("docs")))
			},
			"the file gives way to a link": func() {
				require.NoError(t, os.Remove(at("docs/a")))
				require.NoError(t, os.Symlink("../vault/a", at("docs/a")))
			},
		} {
			turn = change
			for _, path := range []string{"l/a", "docs/a", at("docs/a")} {
				reset()
				res, err := set.Call(t.Context(), "read_file", json.RawMessage(`{"path":"`+path+`"}`))
				if err == nil {
					require.Contains(t, res.Text, "docs", "%s: %s", what, path)
				} else {
					require.NotEqual(t, "nothing", what, "%s: %v", path, err)
				}
				require.NoError(t, os.RemoveAll(at("gone")))
				reset()
				_, err = set.Call(t.Context(), "write_file", json.RawMessage(`{"path":"`+path+`","content":"evil"}`))
				require.True(t, err == nil || what != "nothing", "%s: %v", path, err)
				got, readErr := os.ReadFile(at("vault/a"))
				require.NoError(t, readErr)
				require.Equal(t, "vault", string(got), "%s: %s", what, path)
				require.NoError(t, os.RemoveAll(at("gone")))
			}
		}
		reset()
		_, err := set.Call(t.Context(), "read_file", json.RawMessage(`{"path":"vault/a"}`))
		require.Error(t, err)
	}
}
