package agents

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAgentsGoOn holds that an agent that is started by its word again knows what was
// said before: it goes on with the last conversation, whose call is not made again.
func TestAgentsGoOn(t *testing.T) {
	for _, a := range quick() {
		for _, uid := range some(users()[len(users())-1:]) {
			t.Run(fmt.Sprintf("%s-%s", a.name, person(uid)), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, uid)
				m := a.model(t, a.tools.shell("echo once >>src/count.txt"))
				env := w.settle(t, a, word, m)
				session(t, w.started(a, word, env, append(a.args, task)...), m)
				session(t, w.started(a, word, env, append(a.goOn, task)...), m)
				count, err := os.ReadFile(w.project + "/src/count.txt")
				require.NoError(t, err)
				require.Equal(t, "once\n", string(count))
				w.keepsNothingOfOthers(t, word.home(w, a))
			})
		}
	}
}

// TestAgentsLogIn holds that a key that is given inside is there the next time, and
// nowhere else.
func TestAgentsLogIn(t *testing.T) {
	w := newWorld(t, users()[len(users())-1])
	w.before = w.listing(t)
	logIn := w.started(codex, word, nil, "login", "--with-api-key")
	logIn.Stdin = strings.NewReader("sk-given-inside\n")
	said, err := ended(t, logIn)
	require.NoError(t, err, said)
	said, err = ended(t, w.started(codex, word, nil, "login", "status"))
	require.NoError(t, err, said)
	require.Contains(t, said, "API key configured - sk-given")
	w.keepsNothingOfOthers(t, word.home(w, codex))
}
