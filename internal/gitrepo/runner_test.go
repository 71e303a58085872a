//go:build unix

package gitrepo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// covered reports whether r names path, an absolute one.
func covered(t *testing.T, r *Repository, path string) bool {
	t.Helper()
	return slices.ContainsFunc(r.Named, func(n Named) bool {
		if n.Glob == "" {
			return beneath(n.Path, path)
		}
		g, err := globs.Parse(n.Glob)
		require.NoError(t, err)
		rel, err := filepath.Rel(n.Path, path)
		return err == nil && filepath.IsLocal(rel) && globs.Covers(g, rel)
	})
}

// ran are the runners of r: the command, and what it reads, relative to the site.
func (s *site) ran(r *Repository) []string {
	list := []string{}
	for _, runner := range r.Runners {
		text := runner.Command
		for _, file := range runner.Reads {
			text += " " + s.rel(file)
		}
		if runner.Driver {
			text += " driver"
		}
		list = append(list, text)
	}
	return list
}

// TestFound says what the programs of a command find by themselves: covered are
// files that an agent could make, and that run then.
func TestFound(t *testing.T) {
	for _, c := range []struct {
		config  string
		covered string // files that are named, relative to the project
		free    string // and that are not
		runners string
	}{
		{"[filter \"x\"]\nclean = \"\\\"/usr/bin/python3\\\" -m nbstripout\"",
			"nbstripout.py nbstripout/__main__.py nbstripout.cpython-311-x86_64-linux-gnu.so nbstripout.pyc .gitattributes src/deep/.gitattributes", "nbstripouts.py src/x.py nbstripout.ini",
			"python3 -m nbstripout project/argparse.py driver"},
		{"[filter \"x\"]\nclean = python3 -Im nbstripout", "", "nbstripout.py .gitattributes", ""},
		{"[filter \"x\"]\nclean = python3 -I -m nbstripout", "", "nbstripout.py .gitattributes", ""},
		{"[filter \"x\"]\nclean = python3 -X utf8 -Wignore -sP -m nbstripout", "", "nbstripout.py .gitattributes", ""},
		{"[diff \"x\"]\ntextconv = python3 -m pkg.tool.main", "pkg.py pkg/__init__.py pkg/__pycache__/__init__.x.pyc pkg/tool.py pkg/tool/main.py .gitattributes", "pkg/other.py pkg/tools/x.py",
			"python3 -m pkg.tool.main project/argparse.py driver"},
		{"[core]\nfsmonitor = \"python3 -uc 'import a.b, c; from d import e'\"", "a.py c.py d/__init__.py", "e.py b.py .gitattributes", "python3 -c project/argparse.py"},
		{"[core]\nfsmonitor = python3 tools/x.py", "tools/x.py", "x.py", ""},
		{"[filter \"x\"]\nclean = env PYTHONPATH=tools python3 -m clean", "tools/clean.py tools/json.py clean.py", "x.py", "python3 -m clean project/argparse.py driver"},
		{"[filter \"x\"]\nclean = \"PATH=$PWD/tools:$PATH clean\"", "tools/clean", "clean", ""},
		{"[filter \"x\"]\nclean = \"PATH=tools:$NOBODY:$PATH clean\"", "tools/clean", "clean", ""},

		{"[merge \"x\"]\ndriver = npx npm-merge-driver merge %A %O %B %P", "node_modules/.bin/npm-merge-driver .gitattributes", "node_modules/.bin/other package.json",
			"npx npm-merge-driver project/package.json driver"},
		{"[filter \"x\"]\nclean = npx --yes -p prettier@3 prettier --stdin-filepath %f", "node_modules/.bin/prettier", "node_modules/.bin/yes", "npx project/package.json driver|prettier project/.prettierrc.js driver"},
		{"[filter \"x\"]\nclean = pnpm exec -- @a/clean@1.2", "node_modules/.bin/clean", "", "pnpm exec project/package.json driver"},
		{"[filter \"x\"]\nclean = yarn -s clean", "node_modules/.bin/clean .gitattributes", "package.json", "yarn project/package.json driver"},
		{"[filter \"x\"]\nclean = npm run -s clean", ".gitattributes", "package.json", "npm run project/package.json driver"},
		{"[filter \"x\"]\nclean = bunx clean", "node_modules/.bin/clean", "", "bunx clean project/package.json driver"},

		{"[filter \"x\"]\nclean = cd tools && ./clean.sh", "tools/clean.sh", "tools/other src/clean.sh", ""},
		{"[filter \"x\"]\nclean = cd src && ./clean.sh", "src/clean.sh", "src/other", ""},
		{"[filter \"x\"]\nclean = \"sh -c 'cd tools; exec ./clean.sh'\"", "tools/clean.sh", "tools/other", ""},
		{"[filter \"x\"]\nclean = \"cd $(git rev-parse --show-toplevel)/a && cd b && sh c.sh\"", "a/b/c.sh", "a/x a/b/x", ""},
		{"[filter \"x\"]\nclean = cd tools && python3 -m clean", "tools/clean.py", "tools/x.py", "python3 -m clean project/argparse.py project/tools/argparse.py driver"},

		{"[filter \"x\"]\nclean = node tools/clean", "tools/clean.js tools/clean.cjs tools/clean/index.js tools/clean/package.json", "tools/x.js", ""},
		{"[filter \"x\"]\nclean = node -r ./hook --import=./b.mjs -r pkg/x tool", "hook.js b.mjs node_modules/pkg/x.js node_modules/pkg/x tool.js", "x.js", ""},
		{"[filter \"x\"]\nclean = \"node 'tools/cl[e]an'\"", "tools/cl[e]an.js", "tools/clean.js", ""},
		{"[filter \"x\"]\nclean = ruby -Ilib -rx -r./a -e 1", "lib/x.rb a.rb", "x.rb", ""},
		{"[filter \"x\"]\nclean = perl -I lib -Mlib=b -MX -e1", "lib/X.pm b/X.pm", "X.pm", ""},

		{"[filter \"x\"]\nclean = poetry run python3 -m nbstripout", "nbstripout.py .gitattributes", "pyproject.toml", "poetry run project/pyproject.toml driver|python3 -m nbstripout project/argparse.py driver"},
		{"[filter \"x\"]\nclean = uv run nbstripout", ".gitattributes", "pyproject.toml", "uv run project/pyproject.toml driver"},
		{"[filter \"x\"]\nclean = make -s clean", ".gitattributes", "Makefile", "make project/Makefile driver"},
		{"[filter \"x\"]\nclean = cargo run -q", ".gitattributes", "Cargo.toml", "cargo run project/Cargo.toml driver"},
		{"[filter \"x\"]\nclean = just clean", ".gitattributes", "justfile", "just clean project/justfile driver"},
		{"[filter \"x\"]\nclean = nice -n 5 bundle exec rubocop", ".gitattributes", "Gemfile", "bundle exec project/Gemfile driver|rubocop project/.rubocop.yml driver"},
		{"[filter \"x\"]\nclean = docker compose run clean", ".gitattributes", "compose.yaml", "docker compose project/compose.yaml driver"},
		{"[diff \"x\"]\ntextconv = ansible-vault view", ".gitattributes", "ansible.cfg", "ansible-vault view project/ansible.cfg driver"},
		{"[filter \"x\"]\nclean = go run ./tools/clean", "tools/clean .gitattributes", "go.mod", "go run project/go.mod driver"},
		{"[diff]\nexternal = make diff", "", ".gitattributes", "make diff project/Makefile"},

		// What a person types, and what packages bring along, is told alone.
		{"[alias]\nup = !npx foo\nt = \"!f() { echo 'make it so'; command -v npm; sh -c 'make t'; }; f\"", "", "node_modules/.bin/foo .gitattributes", "npx foo project/package.json|make t project/Makefile"},
		{"[alias]\nx = !python3 -m pkg.main", "", "pkg/__init__.py pkg/main.py pkg.py", "python3 -m pkg.main project/argparse.py"},
		{"[alias]\nx = !python3 -m tool", "tool.py", ".gitattributes", "python3 -m tool project/argparse.py"},

		// What people have, and what runs nothing of the project.
		{"[filter \"lfs\"]\nclean = git-lfs clean -- %f\nsmudge = git-lfs smudge -- %f\nprocess = git-lfs filter-process\nrequired = true", "", ".gitattributes git-lfs", ""},
		{"[filter \"git-crypt\"]\nsmudge = \"\\\"git-crypt\\\" smudge\"\nclean = \"\\\"git-crypt\\\" clean\"\n[diff \"git-crypt\"]\ntextconv = \"\\\"git-crypt\\\" diff\"", "", ".gitattributes git-crypt", ""},
		{"[core]\npager = delta --side-by-side\neditor = code --wait\n[interactive]\ndiffFilter = delta --color-only\n[delta]\nnavigate = true", "", ".gitattributes delta code", ""},
		{"[diff]\nexternal = difft\ntool = difftastic\n[difftool \"difftastic\"]\ncmd = difft \"$LOCAL\" \"$REMOTE\"", "", "difft", ""},
		{"[merge]\ntool = vimdiff\n[mergetool \"vimdiff\"]\ncmd = nvim -d \"$LOCAL\" \"$MERGED\" \"$REMOTE\" -c 'wincmd J'\n[mergetool \"meld\"]\ncmd = meld \"$LOCAL\" \"$BASE\" \"$REMOTE\" --output \"$MERGED\"", "", "nvim meld", ""},
		{"[credential \"https://github.com\"]\nhelper =\nhelper = !/usr/bin/gh auth git-credential\n[credential]\nhelper = /usr/local/share/gcm-core/git-credential-manager\nhelper = cache --timeout=900", "", "gh", ""},
		{"[gpg]\nformat = ssh\n[gpg \"ssh\"]\nprogram = /opt/1Password/op-ssh-sign\n[user]\nsigningkey = ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI", "", "op-ssh-sign", ""},
		{"[secrets]\nproviders = git secrets --aws-provider\npatterns = AKIA[A-Z0-9]{16}\n[alias]\nscan = !git secrets --scan", "", ".gitattributes", ""},
		{"[diff \"ipynb\"]\ntextconv = nbstripout -t\n[diff \"jupyternotebook\"]\ncommand = git-nbdiffdriver diff\n[filter \"nbstripout\"]\nclean = nbstripout\nsmudge = cat", "", "nbstripout.py .gitattributes", ""},
	} {
		t.Run(strings.ReplaceAll(c.config, "\n", ";"), func(t *testing.T) {
			s := newSite(t)
			s.init()
			s.write("project/src/x", "x")
			require.NoError(t, os.MkdirAll(filepath.Join(s.root, "pkg"), 0o755))
			s.write("project/.git/config", c.config+"\n")
			r := s.mustInspect()
			for name := range strings.FieldsSeq(c.covered) {
				assert.True(t, covered(t, r, filepath.Join(s.root, name)), "%s of %v", name, s.named(r))
			}
			for name := range strings.FieldsSeq(c.free) {
				assert.False(t, covered(t, r, filepath.Join(s.root, name)), "%s of %v", name, s.named(r))
			}
			assert.Equal(t, c.runners, strings.Join(s.ran(r), "|"))

			s.write("project/.git/config", "[core]\nbare = false\n")
			r = s.mustInspect()
			assert.Empty(t, r.Named, "without the line nothing is named")
			assert.Empty(t, r.Runners)
		})
	}
}

// TestGitFinds shows, with git at work, that a file which an agent makes runs by a
// command of the configuration that does not say its path, and that it is named
// before it is there, or else what turns the command on is.
func TestGitFinds(t *testing.T) {
	const sh = "#!/bin/sh\ntouch \"$HOME/ran\"\n"
	const py = "import os; open(os.environ['HOME'] + '/ran', 'w')\n"
	const js = "require('fs').writeFileSync(process.env.HOME + '/ran', '')\n"
	const driver = "[filter \"x\"]\nclean = "
	for _, c := range []struct {
		name, config  string
		program, text string
		named         bool // the program; else only what turns it on is
	}{
		{"module", driver + "python3 -m nbstripout", "nbstripout.py", py, true},
		{"package", driver + "python3 -m a.b", "a/b/__main__.py", py, true},
		{"import", driver + "python3 -c 'import clean'", "clean.py", py, true},
		{"another module", driver + "python3 -m json.tool", "argparse.py", py, false},
		{"PYTHONPATH", driver + "PYTHONPATH=tools python3 -m clean", "tools/clean.py", py, true},
		{"bin", driver + "npx --no-install clean", "node_modules/.bin/clean", sh, true},
		{"cd", driver + "cd tools && ./clean", "tools/clean", sh, true},
		{"ending", driver + "node tools/clean", "tools/clean.js", js, true},
		{"index", driver + "node tools/clean", "tools/clean/index.js", js, true},
		{"require", driver + "node -r ./hook -e 1", "hook.js", js, true},
		{"perl", driver + "perl -Ilib -MX -e1", "lib/X.pm", "open(F, '>', \"$ENV{HOME}/ran\"); 1;\n", true},
		{"npm", driver + "npm run -s clean", "package.json", "{\"scripts\": {\"clean\": \"touch $HOME/ran\"}}\n", false},
		{"make", driver + "make -s clean", "Makefile", "clean:\n\t@touch \"$(HOME)/ran\"\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.init()
			old, err := os.ReadFile(filepath.Join(s.root, ".git/config"))
			require.NoError(t, err)
			s.write("project/.git/config", string(old)+strings.ReplaceAll(c.config, "&&", "\"&&\"")+"\n")
			r := s.mustInspect()
			require.True(t, covered(t, r, filepath.Join(s.root, "sub/.gitattributes")) || c.named)
			require.Equal(t, c.named, covered(t, r, filepath.Join(s.root, c.program)), "%v", s.named(r))

			s.write("project/f.x", "x")
			s.write("project/"+c.program, c.text)
			_, _ = s.try("project", "add", "f.x") // what it says of it does not matter
			require.NoFileExists(t, filepath.Join(s.dir, "home/ran"), "no attribute turns it on")
			s.write("project/f.x", "changed")
			s.write("project/.gitattributes", "*.x filter=x\n")
			_, _ = s.try("project", "add", "f.x")
			require.FileExists(t, filepath.Join(s.dir, "home/ran"), "git runs it")
		})
	}
}

// TestHookScripts holds that what hooks call by a name that the project gives a
// meaning is told, and that the packages which they take it from stay free.
func TestHookScripts(t *testing.T) {
	s := newSite(t)
	s.init()
	assert.Empty(t, s.mustInspect().Runners, "samples are none")
	s.write("project/.git/hooks/pre-commit", "#!/usr/bin/env bash\nINSTALL_PYTHON=/usr/bin/python3\nARGS=(hook-impl)\nif [ -x \"$INSTALL_PYTHON\" ]; then\n"+
		"    exec \"$INSTALL_PYTHON\" -mpre_commit \"${ARGS[@]}\"\nelif command -v make > /dev/null; then\n    echo 'make: no'\nfi\n")
	s.write("project/.git/hooks/pre-push", "#!/bin/sh\nx=$(npx -c 'y')\nbash -c 'make lint'\n")
	s.write("project/.git/hooks/post-commit", "#!/usr/bin/python3\nimport make\n")
	s.write("project/.git/hooks/commit-msg", "#!/bin/sh\ncommand -v git-lfs >/dev/null 2>&1 || exit 2\ngit lfs commit-msg \"$@\"\n")
	r := s.mustInspect()
	assert.Equal(t, []string{"python3 -m pre_commit project/argparse.py", "make lint project/Makefile", "npx project/package.json"}, s.ran(r))
	assert.Equal(t, filepath.Join(r.GitDir, "hooks/pre-commit"), r.Runners[0].File)
	assert.Equal(t, "hooks.pre-commit", r.Runners[0].Key)
	assert.True(t, covered(t, r, filepath.Join(s.root, "pre_commit.py")))
	assert.False(t, covered(t, r, filepath.Join(s.root, "node_modules/.bin/y")))

	s.git("project", "config", "core.hooksPath", ".husky/_")
	s.write("project/.husky/_/pre-commit", "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"\n")
	s.write("project/.husky/pre-commit", "npx lint-staged\n")
	assert.Contains(t, s.ran(s.mustInspect()), "npx lint-staged project/package.json")
}
