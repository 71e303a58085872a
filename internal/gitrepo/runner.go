package gitrepo

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Runner is a command of the configuration that looks for what it runs in the
// directory where git starts it, as make does for a Makefile. What it finds there
// cannot be named: an agent is there to write it.
type Runner struct {
	Command string // what runs it, without what does not matter: "npm run"
	// Reads are absolute paths of files by which it is decided what runs; the
	// first that it would look for, in each directory where it may be started.
	Reads []string
	// Driver means that an attribute turns the command on: it is a filter, or a
	// diff or merge driver.
	Driver bool
	// Python means that Reads stands for any module: an option keeps Python from
	// taking those of the directory.
	Python bool
	// Key, File and Line say where it is written, as those of Named do. Of a hook
	// File is the hook, and there is no line.
	Key  string
	File string
	Line int
}

// attributes are, as the Glob of a Named, the files by which a project, and a
// repository in it, turns filters and drivers on (gitattributes(5)).
var attributes = []string{"**/.gitattributes", "**/info/attributes"}

// Attributes reports whether what is named turns the command on that names it.
func (n Named) Attributes() bool { return slices.Contains(attributes, n.Glob) }

// runners are programs that do what a file of the directory says in which they are
// started, or one above it, and that file.
var runners = map[string]string{
	"npm": "package.json", "npx": "package.json", "pnpm": "package.json", "pnpx": "package.json",
	"yarn": "package.json", "yarnpkg": "package.json", "bun": "package.json", "bunx": "package.json",
	"deno": "deno.json", "nx": "nx.json", "turbo": "turbo.json", "lerna": "lerna.json",
	"husky": "package.json", "lint-staged": "package.json", "commitlint": "package.json", "standard": "package.json",
	"eslint": "eslint.config.js", "prettier": ".prettierrc.js", "stylelint": "stylelint.config.js",
	"ts-node": "tsconfig.json", "gulp": "gulpfile.js", "grunt": "Gruntfile.js",
	"jest": "package.json", "vitest": "vitest.config.js", "mocha": ".mocharc.js", "webpack": "webpack.config.js", "vite": "vite.config.js",

	"make": "Makefile", "gmake": "Makefile", "just": "justfile", "task": "Taskfile.yml", "mage": "magefile.go",
	"ninja": "build.ninja", "meson": "meson.build", "cmake": "CMakeLists.txt", "scons": "SConstruct",
	"bazel": "WORKSPACE", "bazelisk": "WORKSPACE", "earthly": "Earthfile",
	"nix": "flake.nix", "nix-shell": "shell.nix", "nix-build": "default.nix", "devbox": "devbox.json",
	"vagrant": "Vagrantfile", "tilt": "Tiltfile", "skaffold": "skaffold.yaml",
	"docker-compose": "compose.yaml", "podman-compose": "compose.yaml",

	"go": "go.mod", "cargo": "Cargo.toml", "dotnet": "global.json", "swift": "Package.swift", "zig": "build.zig",
	"gradle": "build.gradle", "mvn": "pom.xml", "ant": "build.xml", "sbt": "build.sbt",
	"lein": "project.clj", "clj": "deps.edn", "clojure": "deps.edn", "bb": "bb.edn",
	"stack": "stack.yaml", "cabal": "cabal.project", "dune": "dune-project", "mix": "mix.exs", "rebar3": "rebar.config",

	"poetry": "pyproject.toml", "uv": "pyproject.toml", "uvx": "pyproject.toml", "pdm": "pyproject.toml", "hatch": "pyproject.toml",
	"rye": "pyproject.toml", "pipenv": "Pipfile", "tox": "tox.ini", "nox": "noxfile.py", "pytest": "conftest.py",
	"pylint": ".pylintrc", "mypy": "mypy.ini", "flake8": ".flake8", "invoke": "tasks.py", "inv": "tasks.py", "fab": "fabfile.py",
	"ansible": "ansible.cfg", "ansible-vault": "ansible.cfg", "ansible-playbook": "ansible.cfg", "ansible-lint": "ansible.cfg",

	"bundle": "Gemfile", "rake": "Rakefile", "rails": "Gemfile", "rspec": ".rspec", "rubocop": ".rubocop.yml", "foreman": "Procfile",
	"composer": "composer.json", "phpunit": "phpunit.xml", "php-cs-fixer": ".php-cs-fixer.php", "phpstan": "phpstan.neon",
}

// packageRunners are those of runners that run a program of node_modules/.bin by
// its name.
var packageRunners = map[string]bool{
	"npm": true, "npx": true, "pnpm": true, "pnpx": true, "yarn": true, "yarnpkg": true, "bun": true, "bunx": true,
}

// passOn are the words of runners after which the command stands that they run.
var passOn = map[string]bool{"run": true, "exec": true, "x": true, "dlx": true, "--": true}

// modules are the interpreters that find a script by its name without the ending.
var modules = map[string]bool{"node": true, "nodejs": true, "bun": true, "deno": true, "tsx": true, "ts-node": true}

// The endings of modules of Python (importlib.machinery.all_suffixes) and of scripts
// of JavaScript, as a glob.
const (
	moduleEndings = ".{py,pyc,so,*.so,pyd,*.pyd}"
	scriptEndings = ".{js,cjs,mjs,json,node,ts,cts,mts,jsx,tsx}"
)

// searchPaths are variables whose value is a list of directories from which a
// program takes other programs or parts of itself.
var searchPaths = map[string]bool{
	"PATH": true, "PYTHONPATH": true, "PYTHONHOME": true, "NODE_PATH": true, "RUBYLIB": true, "PERL5LIB": true, "PERLLIB": true,
	"LD_LIBRARY_PATH": true, "CLASSPATH": true, "LUA_PATH": true,
}

// maxModule bounds the parts of a module's name.
const maxModule = 16

// lazyPattern is compiled when it is first asked: each start of pinfold is several
// processes, of which most never do.
func lazyPattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var (
	moduleName = lazyPattern(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)
	plainWord  = lazyPattern(`^[A-Za-z@][A-Za-z0-9@._/:-]{0,63}$`)
	importLine = lazyPattern(`(?:^|[;\n:])[ \t]*(?:import|from)[ \t]+([A-Za-z_][A-Za-z0-9_. ,\t]*)`)
	binName    = lazyPattern(`^(?:@[a-z0-9][a-z0-9._-]*/)?([A-Za-z0-9][A-Za-z0-9._-]*)(?:@.*)?$`)
)

// simple is a program of a command, with its arguments.
type simple struct {
	name string // without its directory
	args []word
}

// programs are what one simple command runs: its program, and where that runs
// another, as env(1), npx and 'uv run' do, that one too. What is in doubt, since an
// option before it may have a value, counts as well.
func programs(words []word) (list []simple) {
	words = slices.DeleteFunc(slices.Clone(words), func(w word) bool { return w.role == roleTarget })
	seen := make([]bool, len(words)+1)
	todo := []int{0}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		doubt := false
	next:
		for i := at; i < len(words); i++ {
			w := words[i]
			name := filepath.Base(w.text)
			switch {
			case w.assign:
				continue
			case w.unknown >= 0, w.text == "command" && i+1 < len(words) && strings.EqualFold(words[i+1].text, "-v"):
				break next // not known, or only asked for
			case strings.HasPrefix(w.text, "-"):
				doubt = !strings.Contains(w.text, "=")
				continue
			case w.text == "" || '0' <= w.text[0] && w.text[0] <= '9', wrappers[name]:
				doubt = false
				continue
			}
			p := simple{name: name, args: words[i+1:]}
			list = append(list, p)
			for j, arg := range p.args {
				if passOn[arg.text] {
					todo = append(todo, i+j+2)
				}
			}
			switch name {
			case "npx", "pnpx", "bunx", "uvx", "bundle":
				todo = append(todo, i+1)
			}
			if !doubt {
				break next
			}
			doubt = false
		}
	}
	return list
}

// runs names what the programs of a command find by themselves, and tells of those
// that are runners. words are all of the command's.
func (in *inspector) runs(it item, words []word) error {
	for len(words) > 0 {
		end := slices.IndexFunc(words, func(w word) bool { return w.part != words[0].part })
		if end < 0 {
			end = len(words)
		}
		for _, w := range words[:end] {
			if err := in.assigned(it, w); err != nil {
				return err
			}
		}
		for _, p := range programs(words[:end]) {
			if err := in.finds(it, p); err != nil {
				return err
			}
		}
		words = words[end:]
	}
	return nil
}

// finds names what one program finds by itself.
func (in *inspector) finds(it item, p simple) (err error) {
	switch {
	case isPython(p.name):
		return in.python(it, p)
	case p.name == "ruby" || p.name == "jruby" || p.name == "perl":
		err = in.loads(it, p)
	}
	if err == nil && modules[p.name] {
		err = in.scripts(it, p)
	}
	if err == nil && packageRunners[p.name] {
		err = in.packages(it, p)
	}
	reads := runners[p.name]
	if p.name == "docker" && len(p.args) > 0 && p.args[0].text == "compose" {
		reads = runners["docker-compose"]
	}
	if err == nil && reads != "" {
		err = in.runner(it, p.name+said(p.args), reads, false)
	}
	return err
}

// said is the first argument, where that is a word of the program's own.
func said(args []word) string {
	if len(args) > 0 && args[0].unknown < 0 && plainWord().MatchString(args[0].text) {
		return " " + args[0].text
	}
	return ""
}

// runner tells of one.
func (in *inspector) runner(it item, command, reads string, python bool) error {
	r := Runner{Command: command, Driver: it.driver(), Python: python, Key: it.key(), File: it.file, Line: it.line}
	for _, other := range in.repo.Runners {
		if other.Command == r.Command && other.Key == r.Key && other.File == r.File && other.Line == r.Line {
			return nil
		}
	}
	if len(in.repo.Runners) == maxNames {
		return it.fail("the configuration has too many commands")
	}
	for _, base := range in.basesOf(it, false) {
		at, err := in.resolve(join(base, reads))
		if err != nil {
			return it.fail(err.Error())
		}
		r.Reads = append(r.Reads, at.path)
	}
	in.repo.Runners = append(in.repo.Runners, r)
	if r.Driver {
		for _, glob := range attributes {
			if err := in.glob(it, in.root, glob); err != nil {
				return err
			}
		}
	}
	return nil
}

// driver reports whether an attribute turns the item's command on
// (gitattributes(5)).
func (it item) driver() bool {
	switch it.section + "." + it.name {
	case "filter.clean", "filter.smudge", "filter.process", "merge.driver", "lfs.clean", "lfs.smudge":
		return it.sub
	case "diff.textconv", "diff.command":
		return it.sub
	}
	return false
}

// typed reports whether a person runs the item's command by its name, or a hook
// does. What it takes from packages is told and not named: an agent that installs
// them could not do so.
func (it item) typed() bool { return it.hook || it.use() == useAlias }

// glob names what lies beneath dir and matches.
func (in *inspector) glob(it item, dir, glob string) error {
	at, err := in.resolve(dir)
	if err != nil {
		return it.fail(err.Error())
	}
	if !in.covers(at.path) {
		return nil
	}
	from := it.names()
	in.add(at.links, from)
	from.Path, from.Glob = at.path, glob
	in.add([]string{at.path}, from)
	return in.tooMany(from)
}

// literal is the glob that matches one name.
func literal(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(name)
}

// found names a path that exists or may come to exist in each directory where the
// command may be started.
func (in *inspector) found(it item, name string) error {
	for _, base := range in.basesOf(it, false) {
		at, err := in.resolve(join(base, name))
		if err != nil {
			return it.fail(err.Error())
		}
		if in.covers(at.path) && !in.whole(at.path) {
			if err := in.name(at, it.names()); err != nil {
				return err
			}
		}
	}
	return nil
}

// directories names those that a list separated by ":" holds, with all that lies
// beneath. What begins with something unknown is left out.
func (in *inspector) directories(it item, list word) error {
	text := list.text
	if list.unknown >= 0 {
		text = text[:list.unknown]
		text = text[:strings.LastIndexByte(text, ':')+1]
		text = strings.TrimSuffix(text, ":")
	}
	for dir := range strings.SplitSeq(text, ":") {
		if dir == "" {
			continue
		}
		for _, base := range in.basesOf(it, false) {
			at, err := in.resolve(join(base, dir))
			if err != nil {
				return it.fail(err.Error())
			}
			if in.covers(at.path) && !in.whole(at.path) {
				from := it.names()
				from.Path, from.Dir = at.path, true
				if err := in.name(at, from); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// assigned names what a variable adds to where programs are looked for.
func (in *inspector) assigned(it item, w word) error {
	name, value, ok := strings.Cut(w.text, "=")
	if !ok || !searchPaths[name] {
		return nil
	}
	w.text = value
	if w.unknown >= 0 {
		if w.unknown -= len(name) + 1; w.unknown < 0 {
			return nil
		}
	}
	return in.directories(it, w)
}
