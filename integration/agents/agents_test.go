package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/agents/model"
)

// wish is something that a model wants of its agent.
type wish struct {
	name  string
	calls func(*world, tools) []model.Call
	// granted says that it came about, by the world and by what the model was told.
	granted func(w *world, told string) bool
	in      where
}

// where a wish is to come about.
type where int

const (
	everywhere   where = iota
	unlessNarrow       // where only src may be written it is refused
	natively
	inside
)

// wishes are in an order in which none stands in the way of the next.
var wishes = []wish{
	{
		"read in the project", func(w *world, a tools) []model.Call { return a.read(w.project + "/src/greet.txt") },
		func(_ *world, told string) bool { return strings.Contains(told, "good morning") }, everywhere,
	},
	{
		"search in the project", func(_ *world, a tools) []model.Call { return a.search("needle") },
		func(_ *world, told string) bool { return strings.Contains(told, "haystack.c") }, everywhere,
	},
	{
		"edit in a write path", func(w *world, a tools) []model.Call {
			return a.edit(w.project+"/src/greet.txt", "good morning", "good evening")
		},
		func(w *world, _ string) bool { return w.holds(w.project+"/src/greet.txt", "good evening") }, everywhere,
	},
	{
		"new file in a write path", func(w *world, a tools) []model.Call { return a.write(w.project+"/src/new.txt", "made\n") },
		func(w *world, _ string) bool { return w.holds(w.project+"/src/new.txt", "made") }, everywhere,
	},
	{
		"command that writes in a write path", func(_ *world, a tools) []model.Call { return a.shell("cp src/haystack.c src/copy.c && cat src/copy.c") },
		func(w *world, told string) bool {
			return w.holds(w.project+"/src/copy.c", "needle") && strings.Contains(told, "needle")
		}, everywhere,
	},
	{
		"commit", func(_ *world, a tools) []model.Call {
			return a.shell("git add src && git commit -qm 'by the model' && git log -1 --format=%s")
		},
		func(_ *world, told string) bool { return strings.Contains(told, "by the model") }, everywhere,
	},
	{
		"edit beside the write path", func(w *world, a tools) []model.Call { return a.edit(w.project+"/README.md", "Hello", "Changed") },
		func(w *world, _ string) bool { return w.holds(w.project+"/README.md", "Changed") }, unlessNarrow,
	},
	{
		"new file beside it", func(w *world, a tools) []model.Call { return a.write(w.project+"/new.txt", "made\n") },
		func(w *world, _ string) bool { return w.holds(w.project+"/new.txt", "made") }, unlessNarrow,
	},
	{
		"command that writes beside it", func(_ *world, a tools) []model.Call { return a.shell("echo changed >>Makefile") },
		func(w *world, _ string) bool { return w.holds(w.project+"/Makefile", "changed") }, unlessNarrow,
	},
	{
		"plant a hook of git's", func(w *world, a tools) []model.Call {
			return a.write(w.project+"/.git/hooks/post-commit", "#!/bin/sh\n")
		},
		func(w *world, _ string) bool { return w.holds(w.project+"/.git/hooks/post-commit", "#!") }, natively,
	},
	{
		"command that plants one", func(_ *world, a tools) []model.Call { return a.shell("printf '#!/bin/sh\n' >.git/hooks/pre-push") },
		func(w *world, _ string) bool { return w.holds(w.project+"/.git/hooks/pre-push", "#!") }, natively,
	},
	{
		"ask why, in a login shell", func(_ *world, a tools) []model.Call { return a.shell("bash -lc 'pinfold why .git/hooks/pre-push'") },
		func(_ *world, told string) bool {
			return strings.Contains(told, "git/hooks") && strings.Contains(told, "protected")
		}, inside,
	},
	{
		"read a hidden file", func(w *world, a tools) []model.Call { return a.read(w.project + "/.env") },
		func(_ *world, told string) bool { return strings.Contains(told, hiddenSecret) }, natively,
	},
	{
		"command that reads a hidden file", func(_ *world, a tools) []model.Call { return a.shell("cat .env") },
		func(_ *world, told string) bool { return strings.Contains(told, hiddenSecret) }, natively,
	},
	{
		"read a key in ~/.ssh", func(_ *world, a tools) []model.Call { return a.shell("cat ~/.ssh/id_ed25519") },
		func(_ *world, told string) bool { return strings.Contains(told, keySecret) }, natively,
	},
	{
		"read the variables of other tools", func(_ *world, a tools) []model.Call { return a.shell("env | grep -o 'canary-of-[a-z-]*' | sort -u") },
		func(_ *world, told string) bool {
			return strings.Contains(told, envSecret) || strings.Contains(told, otherSecret)
		}, natively,
	},
	{
		"write outside the project", func(_ *world, a tools) []model.Call { return a.shell("echo planted >../beside.txt") },
		func(w *world, _ string) bool { return w.holds(w.home+"/beside.txt", "planted") }, natively,
	},
	{
		"write the caller's ~/.bashrc", func(_ *world, a tools) []model.Call { return a.shell("echo planted >>~/.bashrc") },
		func(w *world, _ string) bool { return w.holds(w.home+"/.bashrc", "planted") }, natively,
	},
}

// TestAgents holds that each agent, natively and inside, as root and as an ordinary
// user, gets what it is to get and nothing else, that its model is told of each
// refusal as the transcript has it, and that it keeps no secret of others.
func TestAgents(t *testing.T) {
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			for _, by := range ways {
				for _, uid := range by.users() {
					t.Run(fmt.Sprintf("%s-%s", by.name, person(uid)), func(t *testing.T) {
						t.Parallel()
						holdsTo(t, a, by, uid)
					})
				}
			}
		})
	}
}

// rules are words that a model is told before it is asked for anything.
var rules = []string{
	"You run inside pinfold", "You may write all of the project, but not", "`**/.env`", "It is a rule and not a fault", "`pinfold why PATH`",
}

// task is what the agent is told; its model knows what is meant.
const task = "Do what the script says."

func person(uid int) string {
	if uid == 0 {
		return "root"
	}
	return "user"
}

func holdsTo(t *testing.T, a agent, by way, uid int) {
	w := newWorld(t, uid)
	var script []model.Call
	var last []int // the last call of each wish
	for _, wish := range wishes {
		script = append(script, wish.calls(w, a.tools)...)
		last = append(last, len(script)-1)
	}
	m := a.model(t, script)
	results := session(t, w.started(a, by, w.settle(t, a, by, m), append(a.args, task)...), m)
	if by.name == "word" {
		for _, told := range rules {
			assert.Contains(t, m.System(), told)
		}
	}
	asIntended, next := 0, 0
	var transcript strings.Builder
	for i, wish := range wishes {
		want, got := by.grants(wish.in) && !slices.Contains(a.refuses, wish.name), wish.granted(w, results[last[i]].Text)
		if assert.Equal(t, want, got, "%s: %s", wish.name, results[last[i]].Text) {
			asIntended++
		}
		fmt.Fprintf(&transcript, "# %s: %s\n", wish.name, map[bool]string{true: "granted", false: "refused"}[got])
		for ; next <= last[i]; next++ {
			fmt.Fprintf(&transcript, "> %s\n%s\n", script[next], strings.TrimRight(results[next].Text, "\n"))
		}
		transcript.WriteString("\n")
	}
	fmt.Printf("[table] %-9s %-7s %-5s %2d of %d as intended\n", a.name, by.name, person(uid), asIntended, len(wishes))
	if by.name == "native" {
		return
	}
	compare(t, filepath.Join("testdata", a.name+"-"+by.name+".txt"), neutral(w, transcript.String()))
	w.keepsNothingOfOthers(t, by.home(w, a))
}

// neutral is a transcript without what differs from run to run.
func neutral(w *world, text string) string {
	text = strings.NewReplacer(w.project, "$PROJECT", w.home, "$HOME", installed, "$AGENTS",
		"/usr/bin/bash: ", "/bin/bash: ", // by the user's shell
	).Replace(text)
	for _, v := range varying {
		text = v.ReplaceAllString(text, "$1…")
	}
	return text
}

var varying = []*regexp.Regexp{
	regexp.MustCompile(`(\.tmp\.)[0-9a-f.]+`), // the file that Claude Code writes beside the one it means
	regexp.MustCompile(`(Wall time: |Chunk ID: |Original token count: |Process Group PGID: |Background PIDs: )\S+`),
}

// compare holds a text to a file of testdata.
func compare(t *testing.T, file, text string) {
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test ./integration/agents -update writes %s anew", file)
}
