package agents

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/agents/model"
)

// TestPages runs each line of docs/agents, in the order of its page and with the real
// programs: one that only starts the agent on a terminal, all others until they end.
func TestPages(t *testing.T) {
	for _, a := range quick() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			page, err := os.ReadFile("../../docs/agents/" + a.name + ".md")
			require.NoError(t, err)
			w := newWorld(t, users()[len(users())-1])
			m := a.model(t, a.tools.read(w.project+"/src/greet.txt"))
			env := w.settle(t, a, word, m)
			shell := func(line string) *exec.Cmd {
				cmd := asUser(w.uid, "/usr/bin/env", "sh", "-c", line)
				as := w.started(a, word, nil)
				cmd.Dir, cmd.Env = as.Dir, append(as.Env, env...)
				cmd.Env[0] = strings.Replace(cmd.Env[0], "PATH=", "PATH="+arena+":", 1)
				return cmd
			}
			ran := 0
			for _, line := range regexp.MustCompile(`(?m)^\$ (.*)$`).FindAllStringSubmatch(string(page), -1) {
				line := line[1]
				switch start, _, _ := strings.Cut(line, " -- "); {
				case strings.HasPrefix(line, "npm install"):
					said, err := ended(t, shell("pinfold app show "+a.name))
					require.NoError(t, err)
					require.Contains(t, strings.ReplaceAll(said, `"`, ""), "\nnpm: "+line[strings.LastIndex(line, " ")+1:]+"\n")
				case start == line && !strings.Contains(line, "--dry-run"):
					cmd := shell(line)
					cmd.Env = append(cmd.Env, "TERM=screen-256color")
					p := newPane(t, w, cmd)
					p.shows(a.drawn)
					p.leave()
				default:
					said, err := ended(t, shell(line))
					require.NoError(t, err, "%s\n%s", line, said)
					if strings.Contains(line, "'") { // a task
						require.Contains(t, said, model.Farewell, line)
					}
				}
				ran++
			}
			require.Greater(t, ran, 5)
			fmt.Printf("[pages] %s: %d lines\n", a.name, ran)
			w.keepsNothingOfOthers(t, word.home(w, a))
		})
	}
}
