package integration

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkoutParts is the directory that .ci/checkouts has prepared.
func checkoutParts(t *testing.T) string {
	t.Helper()
	dir, err := checkoutsDir()
	require.NoError(t, err)
	return dir
}

var checkoutsDir = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("sh", "../.ci/checkouts").Output()
	return strings.TrimSpace(string(out)), err
})

// checkout is a project of others, and what an agent is there for.
type checkout struct {
	name string
	from map[string]string // its parts: modules of Go, or directories of sources
	// What the operator has done: prepare before the first commit, install after it.
	prepare, install string
	env              []string
	steps            []step
	hook             string // what its hook says at a commit
	// refused are the places of which changes are refused, and why: none of them
	// is a file that the work needs.
	refused map[string]string
}

// step is something that an agent does. It succeeds.
type step struct{ what, script string }

var goEnv = []string{"GOSUMDB=off", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "CGO_ENABLED=0"}

var checkouts = []checkout{
	{
		name: "Go", env: goEnv,
		from: map[string]string{".": "github.com/spf13/cobra@v1.10.2"},
		steps: []step{
			{"install", "go mod download"},
			{"edit", `printf 'package cobra\n\n// Agent is new.\nfunc Agent( ) string { return  "agent" }\n' > agent.go
				printf 'package cobra\n\nimport "testing"\n\nfunc TestAgent(t *testing.T) {\n\tif Agent() != "agent" {\n\t\tt.Fatal()\n\t}\n}\n' > agent_test.go
				sed -i 's/^test:/vet:\n\tgo vet .\n\ntest:/' Makefile`},
			{"format", `gofmt -w . && make fmt`},
			{"build", `go build ./... && make vet`},
			{"test", `go test -skip TestFail ./...`},
			{"dependencies", `go mod tidy && go mod vendor && rm -r vendor && go mod verify`},
			{"workflow", `sed -i s/ubuntu/debian/ .github/workflows/*.yml .golangci.yml && echo cover.out >> .gitignore`},
		},
	},
	{
		name:    "npm with husky",
		from:    map[string]string{".": "pino-abstract-transport"},
		prepare: `cp $PARTS/npm/package*.json . && echo node_modules > .gitignore`,
		install: `cp -r $PARTS/sources/node_modules/husky .husky/husky && node .husky/husky/bin.js && rm -r .husky/husky`,
		steps: []step{
			{"install", `npm ci --offline --no-audit --no-fund`},
			{"edit", `printf "\nmodule.exports.agent = () => 'agent';\n" >> index.js
				printf "'use strict'\nconst { test } = require('node:test')\nconst assert = require('node:assert')\ntest('agent', () => { assert.equal(require('..').agent(), 'agent') })\n" > test/agent.test.js`},
			{"format", `npm run format`},
			{"test", `npx borp test/agent.test.js`},
			{"scripts", `npm pkg set scripts.agent='node index.js' && npm run agent && npm pack --ignore-scripts && rm ./*.tgz`},
			{"workflow", `sed -i s/ubuntu/debian/ .github/workflows/*.yml`},
		},
		hook:    "✔ agent",
		refused: map[string]string{".git/config": "husky sets core.hooksPath when packages are installed; it is set"},
	},
	{
		name: "Python, pre-commit", hook: "no tabs...", env: []string{"PATH=/usr/bin:/bin"},
		from: map[string]string{".": "node-gyp/gyp"},
		prepare: `printf '.venv\n__pycache__\n*.egg-info\n.pytest_cache\n' > .gitignore && sed -i '/^license-files/d; s/^license = .*/license = {file = "LICENSE"}/' pyproject.toml
			cat > .pre-commit-config.yaml <<-'E'
			repos:
			- repo: local
			  hooks:
			  - {id: test, name: test, language: system, entry: .venv/bin/python -m pytest -q -k agent pylib, pass_filenames: false, verbose: true}
			  - {id: black, name: black, language: system, entry: black, types: [python]}
			  - {id: tabs, name: no tabs, language: pygrep, entry: '\t', types: [python], exclude: easy_xml}
			E`,
		install: `pre-commit install`,
		steps: []step{
			{"install", `python3 -m venv --system-site-packages .venv && .venv/bin/pip install --no-index --no-build-isolation --no-deps -e .`},
			{"edit", `printf 'def agent( ):\n  return "agent"\n' > pylib/gyp/agent.py
				printf 'from gyp.agent import agent\n\n\ndef test_agent():\n    assert agent() == "agent"\n' > pylib/gyp/agent_test.py
				sed -i 's/^dev = .*/dev = ["pytest", "ruff", "black"]/' pyproject.toml`},
			{"format", `black pylib/gyp/agent.py && black --check pylib/gyp/agent*.py`},
			{"test", `.venv/bin/python -m pytest -q -k 'not Ninja'`},
			{"hooks", `git add . && pre-commit run`},
			{"build", `python3 -m compileall -q pylib && .venv/bin/gyp --help > /dev/null`},
		},
	},
	{
		name: "monorepo, submodules", env: append([]string{"GIT_ALLOW_PROTOCOL=file"}, goEnv...),
		from: map[string]string{
			"apps/cli": "github.com/spf13/cobra@v1.10.2", "../pflag": "github.com/spf13/pflag@v1.0.9", "../mousetrap": "github.com/inconshreveable/mousetrap@v1.1.0",
			"web/nopt": "nopt", "web/abbrev": "abbrev",
		},
		prepare: `for m in pflag mousetrap; do (cd ../$m && git init -q && git add . && git commit -q -m first && git clone -q --bare . ../$m.git); done
			git init -q -b main && for m in pflag mousetrap; do git submodule -q add "file://$(realpath ../$m.git)" libs/$m; done
			for p in nopt abbrev; do (cd web/$p && npm pkg delete devDependencies); done
			(cd ../mousetrap && git commit -q --allow-empty -m second && git push -q ../mousetrap.git HEAD)
			go work init ./apps/cli ./libs/pflag && echo node_modules > .gitignore && echo '{"name": "mono", "private": true, "workspaces": ["web/*"]}' > package.json`,
		steps: []step{
			{"install", `npm install --offline --no-audit --no-fund && go mod download && go work sync`},
			{"edit", `printf 'package pflag\n\n// Agent is new.\nfunc Agent() string { return "agent" }\n' > libs/pflag/agent.go
				printf 'package cobra\n\nimport flag "github.com/spf13/pflag"\n\n// Agent is new, too.\nfunc Agent() string { return flag.Agent() }\n' > apps/cli/agent.go
				printf 'package cobra\n\nimport "testing"\n\nfunc TestAgent(t *testing.T) {\n\tif Agent() != "agent" {\n\t\tt.Fatal()\n\t}\n}\n' > apps/cli/agent_test.go
				echo "module.exports.agent = 'agent'" >> web/abbrev/lib/index.js`},
			{"format", `gofmt -w apps libs/pflag/agent.go`},
			{"build", `go build ./apps/cli ./libs/pflag`},
			{"test", `go test -run 'Agent|Flags' ./apps/cli ./libs/pflag && cd web/nopt && node -p "require('.'); require('abbrev').agent"`},
			{"commit in a submodule", `cd libs/pflag && git checkout -b agent && git add . && git commit -m 'by the agent' && git commit --amend -m 'better' && git stash list && git gc`},
			{"update of a submodule", `git submodule update --remote libs/mousetrap && git submodule status && git submodule foreach 'git log -1 --oneline' && git diff --submodule`},
			{"workspaces", `npm pkg set scripts.agent='node lib/nopt.js' -w nopt && npm run agent -w nopt`},
		},
	},
	{
		name: "editor's workspace", env: goEnv,
		from: map[string]string{".": "github.com/blizzy78/varnamelen@v0.8.0"},
		steps: []step{
			{"dependencies", `go get golang.org/x/tools@v0.52.0 && go mod tidy`},
			{"edit", `printf 'package varnamelen\n\n// Agent is new.\nconst  Agent = "agent"\n' > agent.go && printf '\n[*.md]\nindent_size = 2\n' >> .editorconfig`},
			{"format", `gofmt -w .`},
			{"build", `go build -o tool ./cmd && go vet . && ./tool -h 2>&1 | grep -q varnamelen && rm tool`},
			{"test", `go test -short .`},
			{"editor", `echo '{}' > .vscode/agent.code-snippets && rm .vscode/agent.code-snippets
				! echo '{}' > .vscode/tasks.json && ! sed -i s/cmd/evil/ .vscode/launch.json && ! echo '{}' > varnamelen.code-workspace`},
		},
		refused: map[string]string{
			".vscode/tasks.json":        "VS Code runs its tasks",
			".vscode/launch.json":       "VS Code runs what it starts",
			"varnamelen.code-workspace": "VS Code takes tasks from it",
		},
	},
}

// gitSteps are what follows in each checkout: its branch is rebased on what has
// come meanwhile, and put back into order.
var gitSteps = []step{
	{"commit", "git checkout -b agent && git add . && git commit -m 'by the agent' && git commit --amend --no-verify -m 'by the agent, better'"},
	{"rebase", "git fetch && git rebase origin/main && git stash list && git gc && git status --porcelain"},
}

// TestCheckouts: with "--git -w ." the work that an agent is there for is done in
// real projects, and what is refused is no part of it.
func TestCheckouts(t *testing.T) {
	home := tempDir(t, os.Geteuid())
	require.NoError(t, os.CopyFS(home+"/.npm", os.DirFS(checkoutParts(t)+"/cache")))
	t.Cleanup(func() {
		if _, err := os.Stat(home + "/gocache"); err == nil && goCache == "" { // it holds much of the standard library
			goCache = keep(t, home)
		}
	})
	for _, c := range checkouts {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, os.Geteuid(), true)
			c.source(t, s)
			c.operator(t, s, home, c.prepare+"\ngit init -q -b main && git add . && git commit -q -m upstream && git clone -q --bare --no-hardlinks . ../up.git && "+
				"git clone -q ../up.git ../ahead && git -C ../ahead commit -q --allow-empty -m ahead && git -C ../ahead push -q && "+
				"git remote add origin ../up.git && git fetch -q origin\n"+c.install)
			var lines []string
			steps := append(c.steps[:len(c.steps):len(c.steps)], gitSteps...)
			for _, step := range steps {
				lines = append(lines, "set -e; "+step.script)
			}
			report := tempDir(t, s.uid) + "/report"
			flags := []string{"--git", "-w", ".", "--home", home, "--ro", checkoutParts(t), "--ro", s.base, "--report", report}
			for _, v := range c.vars(t) {
				flags = append(flags, "--env", v)
			}
			out, err := pinfoldRun(s, s.uid, modes[0], flags, "sh", "-c", "export GOCACHE=$HOME/gocache\n"+gitScript(lines)).CombinedOutput()
			require.NoError(t, err, "%s", out)
			codes := gitCodes(t, string(out))
			require.Len(t, codes, len(lines), "%s", out)
			for i, step := range steps {
				assert.Equal(t, "0", codes[fmt.Sprint(i)], "%s: %s\n%s", step.what, step.script, out)
			}
			require.Contains(t, gitLine.Split(string(out), -1)[len(c.steps)], c.hook, "what is said at the commit")
			require.Equal(t, "by the agent, better\nahead", gitIn(t, s, s.root, "log", "-2", "--format=%s", "agent"))
			require.Empty(t, gitIn(t, s, s.root, "status", "--porcelain"))

			refused := refusedAt(t, report, s.root)
			assert.Equal(t, slices.Sorted(maps.Keys(c.refused)), slices.Sorted(maps.Keys(refused)), "%s", out)
			fmt.Printf("[table] checkout  %-20s %2d steps work  %2d refusals\n", c.name, len(steps), total(refused))
			for _, place := range slices.Sorted(maps.Keys(refused)) {
				fmt.Printf("[table] checkout  %-20s refused: %s (%d): %s\n", c.name, place, refused[place], c.refused[place])
			}
		})
	}
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// vars are the variables of the agent, and of the operator.
func (c checkout) vars(t *testing.T) []string {
	parts := checkoutParts(t)
	return slices.Concat(workEnv, []string{"PARTS=" + parts, "GOPROXY=file://" + parts + "/go", "npm_config_update_notifier=false"}, c.env)
}

// source makes the project.
func (c checkout) source(t *testing.T, s *site) {
	t.Helper()
	parts := checkoutParts(t)
	for to, from := range c.from {
		to = filepath.Join(s.root, to)
		if module, version, ok := strings.Cut(from, "@"); ok {
			unzipModule(t, parts+"/go/"+module+"/@v/"+version+".zip", from+"/", to)
			continue
		}
		require.NoError(t, os.MkdirAll(to, 0o755))
		runToEnd(t, exec.Command("cp", "-r", parts+"/sources/node_modules/"+from+"/.", to))
	}
}

// unzipModule unpacks a Go module.
func unzipModule(t *testing.T, name, prefix, to string) {
	t.Helper()
	z, err := zip.OpenReader(name)
	require.NoError(t, err)
	defer z.Close()
	for _, f := range z.File {
		at := filepath.Join(to, strings.TrimPrefix(f.Name, prefix))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		r, err := f.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, errors.Join(err, r.Close()))
		require.NoError(t, os.WriteFile(at, data, 0o644))
	}
}

// operator runs a script of the operator's in the project.
func (c checkout) operator(t *testing.T, s *site, home, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir = s.root
	cmd.Env = append([]string{"HOME=" + home}, c.vars(t)...)
	runToEnd(t, cmd)
}

// refusedAt counts the refusals of a report by place.
func refusedAt(t *testing.T, report, root string) map[string]int {
	t.Helper()
	f, err := os.Open(report)
	require.NoError(t, err)
	defer f.Close()
	refused := map[string]int{}
	for lines := json.NewDecoder(f); ; {
		var line struct{ Path string }
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			return refused
		} else if require.NoError(t, err); line.Path != "" {
			refused[strings.TrimPrefix(line.Path, root+"/")]++
		}
	}
}
