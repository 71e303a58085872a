package permission

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
)

// P9: a launch role has the profile that the document names, within the document, else the
// one that is known for it, else READ_ONLY, which is said.
func TestForRole(t *testing.T) {
	opt := Options{Root: "/project", FS: fstest.MapFS{"own.yaml": {Data: []byte("version: 1\nname: own\nextends: WRITE\nfs: {write: [out]}\n")}}}
	src, err := Decode("team.yaml", []byte("version: 1\nname: team\nextends: trusted\nfs: {write: [src, out], hide: [\"**/.env\"]}\nroles: {verify: WRITE, ship: own.yaml, all: yolo, lost: none.yaml}\n"))
	require.NoError(t, err)
	team, err := Compile(src, opt)
	require.NoError(t, err)
	role := func(name string, within *Policy) (*Policy, []Problem) {
		t.Helper()
		p, found, err := ForRole(name, within, opt)
		require.NoError(t, err)
		return p, found
	}
	may := func(p *Policy, place string) bool { return file(p, access.FSWrite, place).Effect == access.Allow }

	p, found := role("verify", nil)
	require.Equal(t, "VERIFICATION", p.Name())
	require.Empty(t, found)
	require.False(t, may(p, "src/a"))
	p, _ = role("coder", nil)
	require.True(t, may(p, "src/a"))
	p, found = role("nonsense", nil)
	require.Equal(t, DefaultProfile, p.Name())
	require.Equal(t, "role 'nonsense' is not known: it is READ_ONLY", found[0].Message)

	// The document's own word counts before ours, and the document holds beside the profile.
	p, found = role("verify", team)
	require.Equal(t, "WRITE", p.Name())
	require.True(t, may(p, "src/a"))
	require.False(t, may(p, "docs/a"), "WRITE alone would")
	require.NotEqual(t, access.Allow, file(p, access.FSRead, "src/.env").Effect)
	require.NotEmpty(t, found, "what the document leaves out is said")
	p, _ = role("ship", team)
	require.True(t, may(p, "out/a"))
	require.False(t, may(p, "src/a"))
	p, _ = role("plan", team)
	require.Equal(t, "DESIGN", p.Name())

	for name, want := range map[string]string{"all": "operator's to give", "lost": "none.yaml", "a b": "role"} {
		_, _, err := ForRole(name, team, opt)
		require.ErrorContains(t, err, want)
	}
}
