package fileskills

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzPatch parses a patch and applies its updates to a file: it never panics,
// names every path it would touch, and what it changes lies where a hunk says.
func FuzzPatch(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n@@ f\n x\n-y\n+z\n*** End of File\n*** End Patch", "f\nx\ny\n")
	f.Add("*** Begin Patch\n*** Add File: a\n+x\n\n*** Delete File: b\n*** Update File: c\n*** Move to: d\n@@\n-a\n\n@@\n+b\n*** End Patch", "a\r\nb")
	f.Fuzz(func(t *testing.T, patch, file string) {
		files, err := parsePatch(patch)
		if err != nil {
			require.IsType(t, &Error{}, err)
			return
		}
		uses, err := patchText(patch).uses()
		require.NoError(t, err)
		named := map[string]bool{}
		for _, u := range uses {
			require.Contains(t, patchText("").actions(), u.Action)
			named[u.Path] = true
		}
		for _, pf := range files {
			require.True(t, named[pf.path] && (pf.moveTo == "" || named[pf.moveTo]))
			on, err := readText(background, "f", []byte(file))
			if err != nil {
				return
			}
			edits, err := on.hunks(background, pf.hunks)
			if err != nil {
				require.IsType(t, &Error{}, err)
				continue
			}
			at := 0
			for i, e := range edits {
				require.LessOrEqual(t, at, e.start)
				require.LessOrEqual(t, e.start, e.end)
				at = e.end
				old := strings.Join(pf.hunks[i].old, "\n")
				require.Contains(t, string(on.lf[max(0, e.start-1):]), old)
			}
			_, err = on.apply(background, edits)
			var e *Error
			require.True(t, err == nil || errors.As(err, &e))
		}
	})
}

// What a patch says, made from two files, is what it does.
func TestPatchIsTrue(t *testing.T) {
	w := newWorld(t, withPatch(t))
	w.write("out/f", strings.Repeat("same\n", 3)+"a\n"+strings.Repeat("same\n", 3))
	w.refused(CodeMultipleMatches, "apply_patch", patchOf("*** Update File: out/f", "@@", " same", "+new"))
	w.ok("apply_patch", patchOf("*** Update File: out/f", "@@", " same", "-a", "+new", " same"))
	require.Equal(t, "same\nsame\nsame\nnew\nsame\nsame\nsame\n", w.read("out/f"))
}
