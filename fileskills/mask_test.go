package fileskills

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// A skill reads and writes the project's files themselves, so each refuses what is masked,
// and no answer has a byte of it. Without the mask the same calls have it.
func TestMasked(t *testing.T) {
	const secret = "S3cr3tValue"
	reads := map[string]args{
		"read_file": {"path": "out/.env"},
		"copy_file": {"source": "out/.env", "destination": "out/copied"},
		"grep":      {"pattern": "TOKEN", "path": "out"},
	}
	world := func(t *testing.T, mask ...string) *world {
		w := newWorldWith(t, pathresolver.Config{WritePaths: []string{"out"}, Mask: mask}, withEverything(t))
		w.write("out/.env", "TOKEN="+secret+"\n")
		return w
	}
	for name, call := range reads {
		t.Run(name, func(t *testing.T) {
			w := world(t, "**/.env")
			res, err := w.call(name, call)
			if name == "grep" {
				require.NoError(t, err, "what is masked is left out")
			} else {
				require.ErrorContains(t, err, "masked")
			}
			text, err := json.Marshal(res)
			require.NoError(t, err)
			require.NotContains(t, string(text), secret)
			require.NotContains(t, w.names("out"), "copied")

			res = world(t).ok(name, call)
			text, err = json.Marshal(res)
			require.NoError(t, err)
			if name != "copy_file" {
				require.Contains(t, string(text), secret, "the control")
			}
		})
	}
	for _, k := range all {
		if k.writes() && k.name != "mkdir" && k.name != "copy_file" {
			t.Run(k.name, func(t *testing.T) {
				w := world(t, "**/.env")
				_, err := w.call(k.name, writeCalls("out/.env")[k.name])
				require.ErrorContains(t, err, "masked")
				require.Equal(t, "TOKEN="+secret+"\n", w.read("out/.env"))
			})
		}
	}
}
