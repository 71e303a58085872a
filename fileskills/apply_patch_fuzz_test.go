package fileskills

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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

// A patch made of the difference of two files makes the one of the other.
func TestPatchIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ending := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "ending")
		last := rapid.SampledFrom([]string{"", ending}).Draw(t, "last")
		lines := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z ]{1,6}`), 1, 40, rapid.ID[string]).Draw(t, "lines")
		file := strings.Join(lines, ending) + last
		var want []string
		patch := []string{"*** Begin Patch", "*** Update File: f"}
		const context = 2
		for at, n := 0, 0; at < len(lines); n++ {
			// Some lines that stay, then some that go, with others in their stead.
			stay := min(rapid.IntRange(context, 8).Draw(t, "stay"), len(lines)-at)
			gone := min(rapid.IntRange(1, 3).Draw(t, "gone"), len(lines)-at-stay)
			want = append(want, lines[at:at+stay]...)
			if gone == 0 {
				break
			}
			patch = append(patch, "@@")
			for _, line := range lines[max(at, at+stay-context) : at+stay] {
				patch = append(patch, " "+line)
			}
			for _, line := range lines[at+stay : at+stay+gone] {
				patch = append(patch, "-"+line)
			}
			for i := range rapid.IntRange(0, 3).Draw(t, "added") {
				line := fmt.Sprintf("ADDED %d.%d", n, i)
				patch, want = append(patch, "+"+line), append(want, line)
			}
			at += stay + gone
		}
		if len(patch) == 2 {
			return
		}
		files, err := parsePatch(strings.Join(append(patch, "*** End Patch"), "\n"))
		require.NoError(t, err)
		on := mustText(t, file)
		edits, err := on.hunks(background, files[0].hunks)
		require.NoError(t, err, "%s\n%q", strings.Join(patch, "\n"), file)
		out, err := on.apply(background, edits)
		require.NoError(t, err)
		require.Equal(t, strings.Join(want, ending)+last, string(out), "%s\n%q", strings.Join(patch, "\n"), file)
	})
}
