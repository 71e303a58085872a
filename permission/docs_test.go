package permission

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/internal/policies"
)

// docs/policy.md holds the reference that the code makes.
func TestReferenceIsWhole(t *testing.T) {
	const file, begin, end = "../docs/policy.md", "-update writes it -->\n", "<!-- end of the reference -->"
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(data), begin)
	require.True(t, ok)
	have, tail, ok := strings.Cut(rest, end)
	require.True(t, ok)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(head+begin+"\n"+reference()+"\n"+end+tail), 0o644))
		return
	}
	require.Equal(t, "\n"+reference()+"\n", have)
}

// Every YAML document in the guides is right and canonical, and has nothing
// that check would warn of.
func TestDocumentsInTheGuidesAreRead(t *testing.T) {
	n := 0
	for _, file := range []string{"../docs/policy.md", "../docs/ci.md"} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile("(?s)```yaml\n(version: 1.*?)```").FindAllStringSubmatch(string(data), -1) {
			n++
			if strings.Contains(m[1], "\ncheck:") {
				_, _, err := decodeProject(policies.ProjectFile, []byte(m[1]))
				require.NoError(t, err, m[1])
				continue
			}
			require.Empty(t, compile(t, m[1]).lint())
			canonical, err := Format("p.yaml", []byte(m[1]))
			require.NoError(t, err)
			require.Equal(t, string(canonical), m[1])
		}
	}
	require.GreaterOrEqual(t, n, 5)
}

// P16: docs/profiles.md names every agent type with its profile, and every
// preset.
func TestProfilesAreDocumented(t *testing.T) {
	data, err := os.ReadFile("../docs/profiles.md")
	require.NoError(t, err)
	src, err := decodeBuiltin("agents")
	require.NoError(t, err)
	for agentType, profile := range src.Document.Roles {
		require.Regexp(t, `\n\| `+agentType+`( \(role\))? \| `+"`"+profile+"`"+` \|\n`, string(data))
	}
	for _, name := range Builtins() {
		require.Contains(t, string(data), "| `"+name+"`")
	}
}
