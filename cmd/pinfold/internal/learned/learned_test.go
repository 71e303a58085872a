package learned

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// Each run has the narrowest write paths by which the same run would work again.
func TestWritePaths(t *testing.T) {
	const before = ". src src/a src/deep src/deep/b doc doc/c top"
	change := func(line string) sandboxfs.Change {
		words := strings.Fields(line)
		c := sandboxfs.Change{Op: access.Op(words[0]), Place: words[1]}
		if len(words) > 2 {
			c.To = words[2]
		}
		return c
	}
	many := func(n int) (all []string) {
		for i := range n {
			all = append(all, "create src/"+strings.Repeat("x", i+1))
		}
		return all
	}
	for name, c := range map[string]struct {
		did  []string
		gone string // of what was made
		want string
	}{
		"nothing":                       {},
		"a file":                        {did: []string{"write src/a"}, want: "src/a"},
		"its mode":                      {did: []string{"meta top"}, want: "top"},
		"a new file":                    {did: []string{"create out", "write out"}, want: "out"},
		"a new tree":                    {did: []string{"create build", "create build/x", "create build/x/o"}, want: "build"},
		"a new tree in a directory":     {did: []string{"create src/gen", "create src/gen/f"}, want: "src/gen"},
		"a name for a while":            {did: []string{"create src/.tmp", "rename src/.tmp src/a"}, gone: "src/.tmp", want: "src"},
		"a tree for a while":            {did: []string{"create src/t", "create src/t/x"}, gone: "src/t src/t/x", want: "src"},
		"within a new tree":             {did: []string{"create build", "create build/t", "rename build/t build/o"}, gone: "build/t", want: "build"},
		"a new tree that gets its name": {did: []string{"create .build", "create .build/o", "rename .build build"}, gone: ".build .build/o", want: "."},
		"from one directory to another": {did: []string{"rename src/deep/b src/b"}, want: "src"},
		"across the project":            {did: []string{"rename src/a doc/a"}, want: "."},
		"a link":                        {did: []string{"link src/a src/deep/l"}, want: "src"},
		"what was removed":              {did: []string{"delete doc/c"}, want: "doc"},
		"removed and made again":        {did: []string{"create doc/c"}, want: "doc"},
		"at the top":                    {did: []string{"create .x", "rename .x top"}, gone: ".x", want: "."},
		"a few":                         {did: many(3), want: "src/x src/xx src/xxx"},
		"many":                          {did: many(mostSiblings + 1), want: "src"},
		"what lies beneath another":     {did: []string{"write src/a", "delete src/deep/b", "delete src/a"}, want: "src"},
		"a file without a name":         {did: []string{"create src/o"}, want: "src/o"},
		"a name that cannot be said":    {did: []string{"create src/a*b"}, want: "src"},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRecord()
			for _, line := range c.did {
				r.Changed(change(line))
				r.Changed(change(line)) // once is enough
			}
			seen := r.Seen(func(place string) bool { return !has(c.gone, place) })
			var got []string
			for _, w := range WritePaths(seen, func(place string) bool { return has(before, place) }, func(place string) bool { return !strings.Contains(place, "*") }) {
				got = append(got, w.Place)
			}
			require.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

func has(list, word string) bool { return strings.Contains(" "+list+" ", " "+word+" ") }

// A run that changes too many names is not guessed at.
func TestTooManyChanges(t *testing.T) {
	got := WritePaths(Seen{Full: true, Changes: []Change{{Op: access.OpWrite, Place: "a"}}},
		func(string) bool { return true }, func(string) bool { return true })
	require.Len(t, got, 1)
	require.Equal(t, ".", got[0].Place)
}

// What got its first name by linkat(2) was made.
func TestUnnamedFile(t *testing.T) {
	r := NewRecord()
	r.Changed(sandboxfs.Change{Op: access.OpLink, To: "src/o"})
	require.Equal(t, []Change{{Op: access.OpCreate, Place: "src/o"}}, r.Seen(func(string) bool { return true }).Changes)
}

// Of refusals the first are kept, each once.
func TestRefused(t *testing.T) {
	r := NewRecord()
	for range 3 {
		for i := range 2 * MaxRefused {
			r.Refused(sandboxfs.Refusal{Op: access.OpWrite, Place: strings.Repeat("x", i+1), Rule: "protected"})
		}
	}
	got := r.Seen(func(string) bool { return true }).Refused
	require.Len(t, got, MaxRefused)
	require.Equal(t, "x", got[0].Place)
}
