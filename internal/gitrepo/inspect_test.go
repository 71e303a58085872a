//go:build unix

package gitrepo

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// site is a project beside an empty home.
type site struct {
	t    *testing.T
	dir  string // real
	root string
	env  map[string]string
}

func newSite(t *testing.T) *site {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	s := &site{t: t, dir: dir, root: filepath.Join(dir, "project"), env: map[string]string{}}
	require.NoError(t, os.MkdirAll(s.root, 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "home"), 0o755))
	return s
}

// write writes a file; its name is relative to the site.
func (s *site) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o755))
}

func (s *site) link(target, name string) {
	s.t.Helper()
	require.NoError(s.t, os.MkdirAll(filepath.Dir(filepath.Join(s.dir, name)), 0o755))
	require.NoError(s.t, os.Symlink(target, filepath.Join(s.dir, name)))
}

// git runs git in dir, relative to the site, and returns what it printed.
func (s *site) git(dir string, args ...string) string {
	s.t.Helper()
	out, err := s.try(dir, args...)
	require.NoError(s.t, err, "git %v: %s", args, out)
	return out
}

func (s *site) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = filepath.Join(s.dir, dir)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(s.dir, "home"), "GIT_CONFIG_NOSYSTEM=1", "EDITOR=true",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	for k, v := range s.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *site) inspect() (*Repository, error) {
	env := map[string]string{"GIT_CONFIG_NOSYSTEM": "1", "PATH": os.Getenv("PATH")}
	for k, v := range s.env {
		env[k] = v
	}
	return Inspect(s.root, Environment{Home: filepath.Join(s.dir, "home"), Getenv: func(k string) string { return env[k] }})
}

func (s *site) mustInspect() *Repository {
	s.t.Helper()
	r, err := s.inspect()
	require.NoError(s.t, err)
	return r
}

// named are the places that r names, relative to the site, a directory with a
// slash behind it.
func (s *site) named(r *Repository) []string {
	names := []string{}
	for _, n := range r.Named {
		name := s.rel(n.Path)
		if n.Dir {
			name += "/"
		}
		if n.Glob != "" {
			name += " " + n.Glob
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (s *site) rel(path string) string {
	s.t.Helper()
	rel, err := filepath.Rel(s.dir, path)
	require.NoError(s.t, err)
	return rel
}

func (s *site) init() {
	s.t.Helper()
	s.git("project", "init", "-q", "-b", "main", ".")
}

// TestKinds has git make each kind of repository and says where its parts lie.
func TestKinds(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		s := newSite(t)
		require.NoError(t, exec.Command("git", "init", "-q", s.dir).Run())
		r := s.mustInspect()
		assert.Equal(t, None, r.Kind, "a repository above root is not root's")
		assert.Empty(t, r.GitDir)
	})
	t.Run("ordinary", func(t *testing.T) {
		s := newSite(t)
		s.init()
		r := s.mustInspect()
		assert.Equal(t, Ordinary, r.Kind)
		assert.Equal(t, "project/.git", s.rel(r.GitDir))
		assert.Equal(t, r.GitDir, r.CommonDir)
		assert.Empty(t, r.Named)
		assert.Empty(t, r.Foreign)
	})
	t.Run("linked directory", func(t *testing.T) {
		s := newSite(t)
		s.git("project", "init", "-q", "--separate-git-dir", "../store", ".")
		require.NoError(t, os.Remove(filepath.Join(s.root, ".git")))
		s.link("../store", "project/.git")
		r := s.mustInspect()
		assert.Equal(t, Ordinary, r.Kind)
		assert.Equal(t, "store", s.rel(r.GitDir))
		assert.Equal(t, []string{"project/.git"}, s.named(r), "replacing the link makes another repository of it")
	})
	t.Run("bare", func(t *testing.T) {
		s := newSite(t)
		s.git("project", "init", "-q", "--bare", ".")
		r := s.mustInspect()
		assert.Equal(t, Bare, r.Kind)
		assert.Equal(t, s.root, r.GitDir)
	})
	t.Run("separate", func(t *testing.T) {
		s := newSite(t)
		s.git("project", "init", "-q", "--separate-git-dir", "../store", ".")
		r := s.mustInspect()
		assert.Equal(t, GitFile, r.Kind)
		assert.Equal(t, "store", s.rel(r.GitDir))
	})
	t.Run("submodule", func(t *testing.T) {
		s := newSite(t)
		s.git(".", "init", "-q", "-b", "main", "lib")
		s.git("lib", "commit", "-q", "--allow-empty", "-m", "x")
		s.git(".", "init", "-q", "-b", "main", "super")
		s.git("super", "-c", "protocol.file.allow=always", "submodule", "add", "-q", "--name", "deep/lib", "../lib", "sub")
		s.root = filepath.Join(s.dir, "super", "sub")
		r := s.mustInspect()
		assert.Equal(t, GitFile, r.Kind)
		assert.Equal(t, "super/.git/modules/deep/lib", s.rel(r.GitDir))
		assert.Empty(t, r.Worktree, "core.worktree of a submodule is where it is")

		s.root = filepath.Join(s.dir, "super")
		r = s.mustInspect()
		require.Len(t, r.Modules, 1)
		assert.Equal(t, "super/.git/modules/deep/lib", s.rel(r.Modules[0]))
	})
	t.Run("linked worktree", func(t *testing.T) {
		s := newSite(t)
		s.git(".", "init", "-q", "-b", "main", "main")
		s.git("main", "commit", "-q", "--allow-empty", "-m", "x")
		s.git("main", "worktree", "add", "-q", "../project/tree")
		s.git("main", "config", "core.hooksPath", ".husky")
		s.root = filepath.Join(s.dir, "project", "tree")
		r := s.mustInspect()
		assert.Equal(t, LinkedWorktree, r.Kind)
		assert.Equal(t, "main/.git/worktrees/tree", s.rel(r.GitDir))
		assert.Equal(t, "main/.git", s.rel(r.CommonDir))
		assert.Equal(t, []string{s.root}, r.Worktrees)
		assert.Equal(t, []string{"main/.git/.husky/", "main/.git/worktrees/tree/.husky/", "project/tree/.husky/"}, s.named(r))

		s.root = filepath.Join(s.dir, "main")
		s.git("main", "worktree", "add", "-q", "-b", "other", "inner/tree")
		r = s.mustInspect()
		assert.Len(t, r.Worktrees, 2)
		assert.Equal(t, []string{"main/.git/.husky/", "main/.husky/", "main/inner/tree/.husky/"}, s.named(r), "a relative path begins in each worktree")
	})
}

// TestNamed says what one line of configuration names. Where git itself can
// show that it takes the file, TestGitTakes does so.
func TestNamed(t *testing.T) {
	for _, c := range []struct {
		config string
		want   []string
		why    string
	}{
		{"[core]\nhooksPath = .husky", []string{"project/.git/.husky/", "project/.husky/"}, "a missing directory can be made"},
		{"[core]\nhooksPath = ~/../project/h", []string{"project/h/"}, ""},
		{"[core]\nhooksPath = /usr/share/hooks", nil, "outside"},
		{"[core]\nfsmonitor = true", nil, "a switch"},
		{"[core]\nfsmonitor = tools/watch", []string{"project/tools/watch"}, ""},
		{"[core]\neditor = vim -u tools/vimrc", []string{"project/tools/vimrc"}, ""},
		{"[core]\npager = less", nil, "in $PATH"},
		{"[core]\nsshCommand = \"ssh -F ./ssh.conf\"", []string{"project/ssh.conf"}, ""},
		{"[core]\naskPass = tools/with space", []string{"project/tools/with", "project/tools/with space"}, "the file with the space exists"},
		{"[core]\ngitProxy = tools/proxy for example.com", []string{"project/tools/proxy"}, ""},
		{"[core]\nsshCommand = ssh -F./ssh.conf -itools/key", []string{"project/ssh.conf", "project/tools/key"}, "what is glued to an option"},
		{"[core]\nattributesFile = attrs\nexcludesFile = ~/../project/ign", []string{"project/attrs", "project/ign"}, ""},
		{"[filter \"x\"]\nclean = sh tools/clean.sh %f\nsmudge = node x.js\nprocess = ./p", []string{"project/p", "project/tools/clean.sh", "project/x.js", "project x.js.{js,cjs,mjs,json,node,ts,cts,mts,jsx,tsx}"}, ""},
		{"[filter \"lfs\"]\nclean = git-lfs clean -- %f\nsmudge = git-lfs smudge -- %f\nprocess = git-lfs filter-process", nil, "as git lfs install writes it"},
		{"[core]\npager = less --lesskey-src=.lesskey", []string{"project/.lesskey"}, "a name that begins with a dot"},
		{"[filter \"x\"]\nclean = jq -f rules.jq", []string{"project/rules.jq"}, ""},
		{"[filter \"x\"]\nclean = sed -f rules.sed", []string{"project/rules.sed"}, ""},
		{"[filter \"x\"]\nclean = \"tool --rules=conf/rules.yml\"", []string{"project/conf/rules.yml"}, ""},
		{"[diff]\nexternal = \"$GIT_DIR/../tools/diff\"", []string{"project/tools/diff"}, ""},
		{"[diff \"x\"]\ntextconv = \"$(git rev-parse --show-toplevel)/tools/conv\"\ncommand = `git rev-parse --show-toplevel`/c", []string{"project/c", "project/tools/conv"}, ""},
		{"[diff \"x\"]\ntextconv = \"d=$(git rev-parse --show-toplevel)/bin; \\\"$d/conv\\\" \\\"$1\\\"\"", []string{"project/bin", "project/bin/conv"}, ""},
		{"[diff \"x\"]\ntextconv = \"sh -c 'tools/conv \\\"$0\\\" | other/x'\"", []string{"project/other/x", "project/tools/conv"}, ""},
		{"[diff \"x\"]\ntextconv = tools/$NAME.sh", []string{"project/tools/"}, "what is not known lies in tools"},
		{"[merge \"x\"]\ndriver = tools/merge %O %A %B", []string{"project/tools/merge"}, ""},
		{"[mergetool \"x\"]\ncmd = tools/m \"$LOCAL\" \"$REMOTE\" > \"$MERGED\"\npath = bin/m", []string{"project/bin/m", "project/tools/m"}, ""},
		{"[credential]\nhelper = store --file=creds\n[credential \"https://x\"]\nhelper = \"!f() { tools/cred; echo \\\"password=$TOKEN\\\"; }; f\"", []string{"project/creds", "project/tools/cred"}, "creds exists"},
		{"[gpg]\nprogram = ./gpg\n[gpg \"ssh\"]\ndefaultKeyCommand = ./key\nallowedSignersFile = signers", []string{"project/gpg", "project/key", "project/signers"}, ""},
		{"[uploadpack]\npackObjectsHook = ./hook", []string{"project/hook"}, ""},
		{"[remote \"o\"]\nurl = ext::./proxy %S\nuploadpack = ./up", []string{"project/proxy", "project/up"}, ""},
		{"[remote \"o\"]\nurl = https://example.com/a/b.git", nil, ""},
		{"[url \"ext::./proxy \"]\ninsteadOf = x:", []string{"project/proxy"}, ""},
		{"[submodule \"s\"]\nupdate = !tools/up\nurl = ../s.git", []string{"project/tools/up"}, ""},
		{"[submodule \"s\"]\nupdate = rebase", nil, ""},
		{"[init]\ntemplateDir = tmpl", []string{"project/tmpl/"}, ""},
		{"[commit]\ntemplate = .gitmessage\n[blame]\nignoreRevsFile = .ignore-revs\n[mailmap]\nfile = m", []string{"project/.gitmessage", "project/.ignore-revs", "project/m"}, ""},
		{"[alias]\nx = !tools/x README.md\ny = log src\nz = \"!sh s.sh\"", []string{"project/s.sh", "project/tools/x"}, "what an alias runs, and not what it reads"},
		{"[alias]\nx = !$UNKNOWN/x", nil, "an alias is no error"},
		{"[include]\npath = ../inc", []string{"project/inc"}, "though it is missing"},
		{"[includeIf \"onbranch:x\"]\npath = ../there", []string{"project/h/", "project/there", "project/.git/h/"}, "every condition is true"},
		{"[include]\npath = ../linked", []string{"project/.git/h/", "project/h/", "project/linked", "project/there"}, "the link and where it leads"},
		{"[core]\nhooksPath = hl", []string{"project/.git/hl/", "project/hl", "project/src/"}, "the link and the directory"},
		{"[core]\nworktree = ../sub\nhooksPath = h", []string{"project/.git/h/", "project/h/", "project/sub/h/"}, ""},
		{"[sendemail]\nsmtpServer = example.com\ntoCmd = ./to", []string{"project/to"}, ""},
		{"[trailer \"x\"]\ncmd = ./t", []string{"project/t"}, ""},
		{"[hook \"x\"]\ncommand = ./t\nevent = pre-commit", []string{"project/t"}, ""},
		{"[pager]\nlog = ./t\ndiff = true", []string{"project/t"}, ""},
		{"[tar \"x\"]\ncommand = ./t -c", []string{"project/t"}, ""},
		{"[sequence]\neditor = env A=b nice -n 5 ./t", []string{"project/t"}, ""},
		{"[core]\neditor = README.md/../t", []string{"project/README.md", "project/t"}, "as a link it would lead elsewhere"},
	} {
		t.Run(strings.ReplaceAll(c.config, "\n", ";"), func(t *testing.T) {
			s := newSite(t)
			s.init()
			s.write("project/README.md", "x")
			s.write("project/creds", "x")
			s.write("project/src/x", "x")
			s.write("project/tools/with space", "x")
			s.write("project/there", "[core]\nhooksPath = h\n")
			s.link("there", "project/linked")
			s.link("src", "project/hl")
			s.write("project/.git/config", c.config+"\n")
			want := append([]string{}, c.want...)
			slices.Sort(want)
			assert.Equal(t, want, s.named(s.mustInspect()), c.why)

			s.write("project/.git/config", "[core]\nbare = false\n")
			assert.Empty(t, s.mustInspect().Named, "without the line nothing is named")
		})
	}
}

// TestNamedSays holds that what is named says where it is configured.
func TestNamedSays(t *testing.T) {
	s := newSite(t)
	s.init()
	s.write("project/.git/config", "# a\n[core]\n\tbare = false\n\tHooksPath = \\\n  .husky\n")
	r := s.mustInspect()
	require.NotEmpty(t, r.Named)
	assert.Equal(t, Named{Path: filepath.Join(s.root, ".husky"), Dir: true, Key: "core.hookspath", File: filepath.Join(r.GitDir, "config"), Line: 4}, r.Named[0])
}

// TestOperator holds that the operator's configuration counts, whichever
// variable says where it is, and files of it that lie in the project.
func TestOperator(t *testing.T) {
	const hooks = "[core]\nhooksPath = .husky\n"
	both := []string{"project/.git/.husky/", "project/.husky/"}
	for _, c := range []struct {
		name string
		make func(s *site)
		want []string
	}{
		{"home", func(s *site) { s.write("home/.gitconfig", hooks) }, both},
		{"xdg default", func(s *site) { s.write("home/.config/git/config", hooks) }, both},
		{"xdg", func(s *site) {
			s.write("x/git/config", hooks)
			s.env["XDG_CONFIG_HOME"] = filepath.Join(s.dir, "x")
		}, both},
		{"GIT_CONFIG_GLOBAL", func(s *site) {
			s.write("g", hooks)
			s.write("home/.gitconfig", "[core]\nhooksPath = no\n")
			s.env["GIT_CONFIG_GLOBAL"] = filepath.Join(s.dir, "g")
		}, both},
		{"GIT_CONFIG_GLOBAL without a file", func(s *site) {
			s.write("home/.gitconfig", hooks)
			s.env["GIT_CONFIG_GLOBAL"], s.env["GIT_CONFIG_SYSTEM"] = "/dev/null", "/dev/null"
		}, []string{}},
		{"GIT_CONFIG_SYSTEM", func(s *site) {
			s.write("g", hooks)
			s.env["GIT_CONFIG_SYSTEM"], s.env["GIT_CONFIG_NOSYSTEM"] = filepath.Join(s.dir, "g"), "0"
		}, both},
		{"GIT_CONFIG_COUNT", func(s *site) {
			s.env["GIT_CONFIG_COUNT"], s.env["GIT_CONFIG_KEY_0"], s.env["GIT_CONFIG_VALUE_0"] = "1", "Core.HooksPath", ".husky"
		}, both},
		{"include in home", func(s *site) {
			s.write("home/.gitconfig", "[include]\npath = ~/more\n")
			s.write("home/more", hooks)
		}, both},
		{"include relative to a link", func(s *site) {
			// git takes it relative to where the link stands.
			s.write("dot/gitconfig", "[include]\npath = more\n")
			s.link("../dot/gitconfig", "home/.gitconfig")
			s.write("home/more", hooks)
			s.write("dot/more", "[core]\nhooksPath = no\n")
		}, both},
		{"a link into the project", func(s *site) {
			s.write("project/dot/gitconfig", "[user]\nname = x\n")
			s.link("../project/dot/gitconfig", "home/.gitconfig")
		}, []string{"project/dot/gitconfig"}},
		{"not yet in the project", func(s *site) { s.link("../project/dot/gitconfig", "home/.gitconfig") }, []string{"project/dot/gitconfig"}},
		{"variable", func(s *site) { s.env["GIT_EDITOR"] = "tools/edit" }, []string{"project/tools/edit"}},
		{"PATH", func(s *site) {
			s.write("home/.gitconfig", "[core]\npager = pg\n")
			s.env["PATH"] = os.Getenv("PATH") + ":" + filepath.Join(s.root, "bin") + ":node_modules/.bin"
		}, []string{"project/bin/pg", "project/node_modules/.bin/pg"}},
		{"GIT_DIR", func(s *site) {
			s.write("other/config", "[core]\nfsmonitor = ./watch\n")
			s.env["GIT_DIR"] = "../other"
		}, []string{"project/watch"}},
		{"unreadable", func(s *site) { s.write("home/.gitconfig", "[core]\npager = $NOBODY/x\n") }, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.init()
			assert.Empty(t, s.mustInspect().Named)
			c.make(s)
			assert.Equal(t, c.want, s.named(s.mustInspect()))
		})
	}
}

// TestOperatorAsGit compares the settings of the operator that are read with
// those that git lists.
func TestOperatorAsGit(t *testing.T) {
	s := newSite(t)
	s.init()
	s.write("home/.gitconfig", "[a]\nb = 1\n[include]\npath = more\n[a]\nb = 3\n")
	s.write("home/more", "[a]\nb = 2\n")
	s.write("home/.config/git/config", "[a]\nb = 0\n")
	s.git("project", "config", "a.b", "4")
	s.git("project", "config", "extensions.worktreeConfig", "true")
	s.git("project", "config", "--worktree", "a.b", "5")
	out := s.git("project", "config", "--get-all", "a.b")
	in := &inspector{root: s.root, env: Environment{Home: filepath.Join(s.dir, "home"), Getenv: func(string) string { return "" }, System: []string{}}, repo: &Repository{}, seen: map[Named]bool{}}
	for _, step := range []func() error{in.find, in.list, in.configure} {
		require.NoError(t, step())
	}
	var got strings.Builder
	for _, it := range in.items {
		if it.key() == "a.b" {
			got.WriteString(it.value + "\n")
		}
	}
	assert.Equal(t, "0\n1\n2\n3\n4\n5\n", got.String())
	assert.Equal(t, out, got.String())
}

// TestRefused holds that what is not understood is an error that says where.
func TestRefused(t *testing.T) {
	config := func(text string) func(*site) {
		return func(s *site) { s.write("project/.git/config", text) }
	}
	for _, c := range []struct {
		name string
		make func(s *site)
		file string
		line int
		says string
	}{
		{"syntax", config("[core]\n\tbare = false\n[oops\n"), "project/.git/config", 3, "syntax"},
		{"include of itself", config("[include]\npath = config\n"), "project/.git/config", 0, "includes itself"},
		{"deep includes", func(s *site) {
			for i := range 12 {
				s.write("project/.git/c"+strconv.Itoa(i), "[include]\npath = c"+strconv.Itoa(i+1)+"\n")
			}
			s.write("project/.git/config", "[include]\npath = c0\n")
		}, "project/.git/c10", 0, "deep"},
		{"many includes", func(s *site) {
			var text strings.Builder
			for i := range 80 {
				s.write("project/.git/c"+strconv.Itoa(i), "[a]\nb = c\n")
				text.WriteString("[include]\npath = c" + strconv.Itoa(i) + "\n")
			}
			s.write("project/.git/config", text.String())
		}, "project/.git/c63", 0, "more than 64 files"},
		{"include of a directory", config("[include]\npath = hooks\n"), "project/.git/hooks", 0, "directory"},
		{"include of nobody's", config("[include]\npath = ~nobody-of-this-name/x\n"), "project/.git/config", 2, "home"},
		{"large", config("[core]\n" + strings.Repeat("#", maxFile)), "project/.git/config", 0, "larger"},
		{"NUL", config("[core]\n\nbare\x00 = x\n"), "project/.git/config", 3, "NUL"},
		{"unknown program", config("[core]\neditor = $UNKNOWN/edit\n"), "project/.git/config", 2, "say the path"},
		{"program of a program", config("[core]\neditor = \"$(find-editor)\"\n"), "project/.git/config", 2, "say the path"},
		{"script that is the project", config("[core]\neditor = node .\n"), "project/.git/config", 2, "say the path"},
		{"template that is the project", config("[init]\ntemplateDir = .\n"), "project/.git/config", 2, "whole"},
		{"many words", config("[core]\neditor = " + strings.Repeat("x ", maxWords+1) + "\n"), "project/.git/config", 2, "too many"},
		{"nested commands", config("[core]\neditor = " + strings.Repeat("$(", 12) + "x" + strings.Repeat(")", 12) + "\n"), "project/.git/config", 2, "nested"},
		{"link", func(s *site) {
			require.NoError(s.t, os.Rename(filepath.Join(s.root, ".git/config"), filepath.Join(s.root, "config")))
			s.link("../config", "project/.git/config")
		}, "project/.git/config", 0, "symbolic link"},
		{"FIFO", func(s *site) {
			path := filepath.Join(s.root, ".git/config")
			require.NoError(s.t, os.Remove(path))
			require.NoError(s.t, syscall.Mkfifo(path, 0o600))
		}, "project/.git/config", 0, "FIFO"},
		{"FIFO that is included", func(s *site) {
			require.NoError(s.t, syscall.Mkfifo(filepath.Join(s.root, "inc"), 0o600))
			s.write("project/.git/config", "[include]\npath = ../inc\n")
		}, "project/.git/../inc", 0, "FIFO"},
		{"loop of links", func(s *site) {
			s.link("b", "project/a")
			s.link("a", "project/b")
			s.write("project/.git/config", "[include]\npath = ../a\n")
		}, "project/.git/../a", 0, "too many symbolic links"},
		{"commondir", func(s *site) { s.write("project/.git/commondir", "nowhere\n") }, "project/.git/commondir", 1, "not a directory"},
		{"commondir of two lines", func(s *site) { s.write("project/.git/commondir", ".\n/\n") }, "project/.git/commondir", 1, "one path"},
		{"worktree of another repository", func(s *site) {
			s.write("project/.git/worktrees/w/gitdir", filepath.Join(s.root, "w/.git")+"\n")
			s.write("project/.git/worktrees/w/commondir", "../../../evil\n")
		}, "project/.git/worktrees/w/commondir", 1, "instead of"},
		{".git says nothing", func(s *site) {
			require.NoError(s.t, os.RemoveAll(filepath.Join(s.root, ".git")))
			s.write("project/.git", "what?\n")
		}, "project/.git", 1, "gitdir"},
		{".git leads nowhere", func(s *site) {
			require.NoError(s.t, os.RemoveAll(filepath.Join(s.root, ".git")))
			s.link("nowhere", "project/.git")
		}, "project/.git", 0, "does not exist"},
		{"environment", func(s *site) { s.env["GIT_CONFIG_COUNT"] = "x" }, "", 0, "number"},
		{"alternates", func(s *site) { s.write("project/.git/objects/info/alternates", "\"a\n") }, "project/.git/objects/info/alternates", 1, "quotes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.init()
			require.NotNil(t, s.mustInspect(), "without the change it is understood")
			c.make(s)
			r, err := s.inspect()
			require.Nil(t, r)
			var own *Error
			require.ErrorAs(t, err, &own)
			assert.Contains(t, err.Error(), c.says)
			assert.Equal(t, c.line, own.Line, err)
			if c.file != "" {
				assert.Equal(t, filepath.Join(s.dir, filepath.Dir(c.file)), filepath.Clean(filepath.Join(filepath.Dir(own.File))), err)
				assert.Equal(t, filepath.Base(c.file), filepath.Base(own.File))
			}
		})
	}
}

// TestParts holds the parts of a repository beside its configuration.
func TestParts(t *testing.T) {
	t.Run("hooks are a link", func(t *testing.T) {
		s := newSite(t)
		s.init()
		require.NoError(t, os.RemoveAll(filepath.Join(s.root, ".git/hooks")))
		s.link("../.husky", "project/.git/hooks")
		r := s.mustInspect()
		assert.Equal(t, []string{"project/.git/hooks", "project/.husky/"}, s.named(r))
		assert.Equal(t, []string{filepath.Join(s.root, ".git/hooks")}, r.Foreign)
	})
	t.Run("hooks in the project itself", func(t *testing.T) {
		s := newSite(t)
		s.init()
		s.git("project", "config", "core.hooksPath", ".")
		names := s.named(s.mustInspect())
		assert.Contains(t, names, "project/pre-commit")
		assert.Contains(t, names, "project/.git/post-receive")
		assert.NotContains(t, names, "project/")
	})
	t.Run("alternates", func(t *testing.T) {
		s := newSite(t)
		s.init()
		s.write("project/.git/objects/info/alternates", "# a\n../../a/objects\n\"../../b\\tb\"\n/elsewhere\n")
		s.write("project/a/objects/info/alternates", "../../c\n")
		assert.Equal(t, []string{"project/a/objects/", "project/b\tb/", "project/c/"}, s.named(s.mustInspect()))
	})
	t.Run("in progress", func(t *testing.T) {
		s := newSite(t)
		s.init()
		s.git("project", "commit", "-q", "--allow-empty", "-m", "a")
		s.git("project", "commit", "-q", "--allow-empty", "-m", "b")
		assert.Empty(t, s.mustInspect().InProgress)
		s.env["GIT_SEQUENCE_EDITOR"] = "echo break >"
		s.git("project", "rebase", "-q", "-i", "HEAD~")
		assert.Equal(t, []string{"rebase-merge"}, s.mustInspect().InProgress)
	})
	t.Run("foreign", func(t *testing.T) {
		s := newSite(t)
		s.init()
		assert.Empty(t, s.mustInspect().Foreign)
		s.link("/etc/passwd", "project/.git/COMMIT_EDITMSG")
		s.write("outside", "x")
		require.NoError(t, os.MkdirAll(filepath.Join(s.root, ".git/logs"), 0o755))
		require.NoError(t, os.Link(filepath.Join(s.dir, "outside"), filepath.Join(s.root, ".git/logs/HEAD")))
		require.NoError(t, syscall.Mkfifo(filepath.Join(s.root, ".git/hooks/pre-commit"), 0o700))
		require.NoError(t, syscall.Mkfifo(filepath.Join(s.root, ".git/objects/info/packs"), 0o700))
		var got []string
		for _, path := range s.mustInspect().Foreign {
			got = append(got, s.rel(path))
		}
		slices.Sort(got)
		assert.Equal(t, []string{"project/.git/COMMIT_EDITMSG", "project/.git/hooks/pre-commit", "project/.git/logs/HEAD", "project/.git/objects/info/packs"}, got)
	})
	t.Run("worktree's own configuration", func(t *testing.T) {
		s := newSite(t)
		s.init()
		s.write("project/.git/config.worktree", "[core]\nfsmonitor = ./w\n")
		assert.Empty(t, s.mustInspect().Named, "git does not read it")
		s.git("project", "config", "extensions.worktreeConfig", "true")
		assert.Equal(t, []string{"project/w"}, s.named(s.mustInspect()))
	})
}

// TestGitTakes shows, with git at work, that a file which Inspect names is one
// that git runs: a program there leaves a mark.
func TestGitTakes(t *testing.T) {
	const mark = "#!/bin/sh\necho ran >> \"$HOME/ran\"\n"
	for _, c := range []struct {
		name, config, program string
		git                   []string
	}{
		{"hooksPath", "[core]\nhooksPath = .husky\n", "project/.husky/pre-commit", []string{"commit", "-q", "--allow-empty", "-m", "x"}},
		{"fsmonitor", "[core]\nfsmonitor = ./tools/watch\n", "project/tools/watch", []string{"status"}},
		{"editor", "[core]\neditor = sh tools/edit\n", "project/tools/edit", []string{"commit", "--allow-empty"}},
		{"clean", "[filter \"x\"]\nclean = ./clean\n", "project/clean", []string{"add", "f.x"}},
		{"variable", "[filter \"x\"]\nclean = \"d=$(git rev-parse --show-toplevel); $d/clean\"\n", "project/clean", []string{"add", "f.x"}},
		{"external", "[diff]\nexternal = \"$GIT_DIR/../diff\"\n", "project/diff", []string{"--git-dir=.git", "diff", "HEAD"}},
		{"include", "[include]\npath = ../inc\n", "project/tool", []string{"status"}},
		{"condition", "[includeIf \"gitdir:**/.git\"]\npath = ../inc\n", "project/tool", []string{"status"}},
		{"alias", "[alias]\nx = !tools/x\n", "project/tools/x", []string{"x"}},
		{"gpg", "[gpg]\nprogram = ./gpg\n", "project/gpg", []string{"commit", "-S", "--allow-empty", "-m", "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.init()
			s.write("project/.gitattributes", "*.x filter=x\n")
			s.write("project/g", "1")
			s.git("project", "add", ".")
			s.git("project", "commit", "-q", "-m", "a")
			s.write("project/g", "2")
			s.write("project/f.x", "x")
			s.write("project/inc", "[core]\nfsmonitor = ./tool\n")
			s.write(c.program, mark)
			config := s.git("project", "config", "--list", "--local")
			require.NotContains(t, config, "tool")
			old, err := os.ReadFile(filepath.Join(s.root, ".git/config"))
			require.NoError(t, err)
			ran := filepath.Join(s.dir, "home/ran")
			_, _ = s.try("project", c.git...)
			require.NoFileExists(t, ran, "without the configuration git runs nothing")
			s.write("project/f.x", "changed")
			s.write("project/.git/config", string(old)+c.config)
			_, _ = s.try("project", c.git...) // what it says of it does not matter
			require.FileExists(t, ran, "git runs it")
			covered := false
			for _, n := range s.mustInspect().Named {
				covered = covered || n.Path == filepath.Join(s.dir, c.program) || n.Dir && beneath(n.Path, filepath.Join(s.dir, c.program))
			}
			assert.True(t, covered, "%s is named", c.program)
		})
	}
}
