package fileskills

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Text with a typing error is shown as the file has it, and nothing is edited
// on a guess; text that is like nothing in the file gets no guess.
func TestTypoIsShown(t *testing.T) {
	const file = "package a\n\n\tprintln(\"say Hello, world\") // größer\nreturn nil\n"
	for want, shown := range map[string]string{
		"Helo":    "in line 3 from column 15 (· is a space, → a tab):\nHello\nWhat was looked for is:\nHelo",
		"hello":   "in line 3 from column 15 (· is a space, → a tab):\nHello\n",
		"wrold":   "in line 3 from column 22 (· is a space, → a tab):\nworld\n",
		"prntln(": "in line 3 from column 2 (· is a space, → a tab):\nprintln(",
		"retrun ": "in line 4 from column 1 (· is a space, → a tab):\nreturn·",
		"grösser": "\ngrößer\n",
		"OK":      "Nothing in the file resembles it.",
		"zebra":   "Nothing in the file resembles it.",
	} {
		w := newWorld(t)
		w.write("out/f", file)
		e := w.refused(CodeNoMatch, "edit_file", args{"path": "out/f", "old_string": want, "new_string": "x"})
		require.Contains(t, e.Hint, shown, want)
		require.Equal(t, file, w.read("out/f"))
		w.ok("edit_file", args{"path": "out/f", "old_string": "Hello", "new_string": "x"})
	}
}

// The bits say what the plain table says.
func TestTypoEnd(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abc\n"[rnd.IntN(4)]
		}
		return string(b)
	}
	for range 3000 {
		text, want := random(rnd.IntN(30)), strings.ReplaceAll(random(1+rnd.IntN(maxTypo)), "\n", "a")
		best := len(want)
		for _, line := range strings.Split(text, "\n") {
			for i := range line {
				for j := i; j <= len(line); j++ {
					best = min(best, distance(want, line[i:j]))
				}
			}
		}
		if best < len(want) { // the empty text differs by all of it
			require.GreaterOrEqual(t, typoEnd(background, []byte(text), want, best), 0, "%q in %q", want, text)
		}
		require.Equal(t, -1, typoEnd(background, []byte(text), want, best-1), "%q in %q", want, text)
	}
}

// distance is the number of letters to insert, drop or change to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
