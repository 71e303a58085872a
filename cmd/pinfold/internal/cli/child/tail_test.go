package child

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a command says last is told to its manager, who is not to have its credentials:
// neither whole nor cut off at the beginning of what is kept.
func TestTailHidesSecrets(t *testing.T) {
	const secret = "of-the-operator-alone"
	plain := &Tail{}
	hides := &Tail{Secrets: []string{secret, "short"}}
	for _, tail := range []*Tail{plain, hides} {
		_, _ = tail.Write([]byte("a " + secret))
		_, _ = tail.Write([]byte(" b short"))
	}
	require.Equal(t, "a "+secret+" b short", plain.String())
	require.Equal(t, "a "+strings.Repeat("*", len(secret))+" b short", hides.String(), "what is as short is a word")

	for cut := range len(secret) + 1 {
		hides := &Tail{Secrets: []string{secret}}
		for _, text := range []string{"begin ", secret, strings.Repeat(".", lastOutput-cut)} {
			_, _ = hides.Write([]byte(text))
		}
		told := hides.String()
		require.Len(t, told, lastOutput)
		require.Equal(t, strings.Repeat("*", cut), told[:cut], "the last %d of it", cut)
	}
}
