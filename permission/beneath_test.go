package permission

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/access"
)

// A child that works in a part of its manager's project asks rules that were written for
// the whole: about each place there they say what they said before.
func TestBeneathSaysTheSame(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "src", ".env", "A"})
	part := rapid.SampledFrom([]string{"a", "b", "src", ".env", "*", "**", "{a,b}", "s*", "[ab]", ".*"})
	list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 7).Draw(t, "all") == 0 {
			return "."
		}
		return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "/")
	}), 0, 3)
	actions := []access.Action{access.FSRead, access.FSWrite, access.FSDelete, access.FSList}
	beneath, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		fs := FS{Read: []string{"."}}
		for _, to := range []*[]string{&fs.Write, &fs.AskWrite, &fs.Hide, &fs.Protect} {
			if rapid.Bool().Draw(t, "given") {
				*to = list.Draw(t, "list")
			}
		}
		if rapid.Bool().Draw(t, "reads") {
			fs.Read = list.Draw(t, "read")
		}
		src, err := FromDocument("doc.yaml", Document{Version: 1, Name: "doc", FS: &fs, Tools: map[string]Tool{"write_file": {Enabled: true, AllowedPaths: list.Draw(t, "allowed")}}})
		if err != nil {
			return
		}
		p, err := Compile(src, Options{Root: "/project"})
		if err != nil {
			return
		}
		dir := strings.Join(rapid.SliceOfN(names, 1, 3).Draw(t, "dir"), "/")
		q, err := p.Beneath(dir)
		if err != nil {
			refused++
			return
		}
		beneath++
		for range 10 {
			place := strings.Join(rapid.SliceOfN(names, 1, 3).Draw(t, "place"), "/")
			for _, action := range actions {
				for _, tool := range []string{"", "write_file"} {
					want := p.Check(t.Context(), access.Request{Action: action, Resource: path.Join(dir, place), Tool: tool})
					got := q.Check(t.Context(), access.Request{Action: action, Resource: place, Tool: tool})
					if want.Effect != got.Effect {
						t.Fatalf("%s of %q in %q by %q: %s, and before %s (%s)\n%+v", action, place, dir, tool, got.Effect, want.Effect, want.Rule, fs)
					}
				}
			}
		}
		decoded, err := DecodePolicy(EncodePolicy(q))
		if err != nil || decoded.Hash() != q.Hash() {
			t.Fatalf("it does not come back: %v", err)
		}
	})
	require.Greater(t, beneath, refused, "most were looked at")
}

// Nobody is led to where their manager has no say: by a hidden or protected directory, by
// a path that leads out, or by a repository that it may not commit to.
func TestBeneathRefuses(t *testing.T) {
	src, err := FromDocument("worker.yaml", Document{Version: 1, Name: "w", Extends: "sandboxed", FS: &FS{Write: []string{"."}, Hide: []string{"secret"}}})
	require.NoError(t, err)
	p, err := Compile(src, Options{Root: "/project"})
	require.NoError(t, err)
	for _, dir := range []string{"secret", "secret/x", "SECRET", "../x", "/x", ".git", "x/.GIT/y", ".git/hooks", "worker.yaml"} {
		_, err := p.Beneath(dir)
		require.Error(t, err, dir)
	}
	q, err := p.Beneath("sub")
	require.NoError(t, err)
	require.Equal(t, access.Allow, q.Check(t.Context(), access.Request{Action: access.FSWrite, Resource: "x"}).Effect)
	require.Equal(t, access.Deny, q.Check(t.Context(), access.Request{Action: access.FSWrite, Resource: ".git/index"}).Effect)
}
