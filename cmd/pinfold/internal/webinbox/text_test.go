package webinbox

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// V11: what was cut says so, also where escaping has made it longer than it was.
func TestCutSaysSo(t *testing.T) {
	for _, s := range []string{strings.Repeat("a", 21), strings.Repeat("\U000e0001", 4), strings.Repeat("\x01", 9), strings.Repeat("\u00e9", 30)} {
		require.Contains(t, cut(s, 20), "(cut, ", "%q", s)
	}
	for _, s := range []string{"", strings.Repeat("a", 20), strings.Repeat("\u00e9", 20), "\U000e0001\U000e0001"} {
		require.NotContains(t, cut(s, 20), "(cut, ", "%q", s)
	}
}
