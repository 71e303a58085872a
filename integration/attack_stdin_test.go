package integration

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAttackStandardInput: standard input is a script that a shell outside
// goes on reading when the command has ended. What the command can do about
// its place must not have the shell read again what it has read.
func TestAttackStandardInput(t *testing.T) {
	for _, s := range surfaces {
		run, ok := s.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			a := attack{name: "rewind", policy: []string{"-w", "work"}, files: map[string]string{"work/f": ""}}
			s := a.site(t, run.uid)
			inside := pinfoldRun(s, s.uid, modes[0], a.policy, insiderPath, "attack", a.name)
			script, err := os.CreateTemp(s.base, "script-")
			require.NoError(t, err)
			defer script.Close()
			_, err = script.Write(make([]byte, 1<<16))
			require.NoError(t, err)
			at := func() int64 {
				place, err := script.Seek(0, 1)
				require.NoError(t, err)
				return place
			}
			const read = 60000
			_, err = script.Seek(read, 0)
			require.NoError(t, err)
			inside.Stdin = script
			runAttack(t, inside)
			require.GreaterOrEqual(t, at(), int64(read), "the shell would read again")

			outside := asUser(s.uid, modes[0], insiderPath, "attack", a.name)
			outside.Dir, outside.Stdin = s.root, script
			runAttack(t, outside)
			require.Less(t, at(), int64(read))
		})
	}
}
