package permission

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A glob beyond the bounds is refused in every list, with the place where it
// stands; the same shape within them is read.
func TestGlobsHaveBounds(t *testing.T) {
	for _, list := range []string{"read", "write", "ask_read", "ask_write", "hide", "protect"} {
		for text, want := range map[string]string{
			strings.Repeat("{a,b}", 26):                               "has braces that stand for more than 1000 names in one component",
			strings.Repeat("{a,", 26) + "x" + strings.Repeat("}", 26): "has braces nested deeper than 8",
			strings.Repeat("a/", 62) + "a":                            "has more than 62 components",
		} {
			_, err := Decode("p.yaml", []byte("version: 1\nfs:\n  "+list+":\n    - ok\n    - \""+text+"\"\n"))
			require.ErrorContains(t, err, want)
			require.Regexp(t, `^p\.yaml:5:7: fs\.`+list+`\[1\]: `, err.Error())
		}
		decode(t, "version: 1\nfs:\n  "+list+":\n    - ok\n    - \""+strings.Repeat("{a,b}", 9)+"\"\n")
	}
}

// A rule that takes away is refused and not dropped where its folded text is no
// glob: one of invisible characters only, or one that folding makes too long.
func TestFoldedGlobsAreNotDropped(t *testing.T) {
	for _, text := range []string{"a/\u200b", strings.Repeat("ŉ", 2000)} {
		for _, list := range []string{"ask_read", "ask_write", "hide", "protect"} {
			_, err := Decode("p.yaml", []byte("version: 1\nfs:\n  "+list+": [\""+text+"\"]\n"))
			require.ErrorContains(t, err, "without letter case and invisible characters")
		}
		decode(t, "version: 1\nfs:\n  write: [\""+text+"\"]\n")
	}
}
