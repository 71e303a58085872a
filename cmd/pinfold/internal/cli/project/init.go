package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/launchprofile"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewInit is the command init.
func NewInit(a *cli.App) *cobra.Command {
	var root string
	var printOnly bool
	cmd := &cobra.Command{
		Use:   "init [flags]",
		Short: "Write a .pinfold.yaml for a project, so that run needs no flags there",
		Long: `init looks at the names in DIR, and in no directory beneath it, and writes a
.pinfold.yaml that says what runs there may write, see and not see, with comments.
It prints it as well, and writes over no file. Read it, change it, then type
'pinfold trust': until then only what it takes away counts.`,
		Example: `  pinfold init
  pinfold init --print
  pinfold init && pinfold trust --yes && pinfold run -- npm test`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error { return initialize(a, root, printOnly) },
	}
	cmd.Flags().StringVarP(&root, "directory", "C", ".", "the project's directory `DIR`")
	cmd.Flags().BoolVar(&printOnly, "print", false, "print the file, and write nothing")
	_ = cmd.MarkFlagDirname("directory")
	return cmd
}

func initialize(a *cli.App, root string, printOnly bool) error {
	project, err := hostfile.OpenProject(root)
	if err != nil {
		return cli.UsageError(hostfile.Named(root, err), "")
	}
	defer project.Close()
	seen, err := lookAt(project.Root)
	if err != nil {
		return err
	}
	if at, err := hostpath.Resolve(root); err == nil {
		seen.real = at.Real
	}
	text := propose(seen)
	if !printOnly {
		f, err := project.Root.OpenFile(policies.ProjectFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			return cli.UsageError(fmt.Errorf("there is a %s in '%s' already", policies.ProjectFile, root), "'pinfold init --print' prints what would be written")
		}
		if err != nil {
			return hostfile.Named(filepath.Join(root, policies.ProjectFile), err)
		}
		_, err = io.WriteString(f, text)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	a.Out.Stdout.Printf("%s", text)
	if !printOnly {
		a.Out.Hint("written to " + policies.ProjectFile + "; 'pinfold trust' lets runs take what it opens")
	}
	return nil
}

// maxNames is how many names of a directory are looked at.
const maxNames = 5000

// seen is what the top of a project shows.
type seen struct {
	real  string
	files map[string]bool // names of files
	dirs  map[string]bool
	npmrc string
}

// lookAt reads the names in a directory and what .npmrc says, and follows no link.
func lookAt(root *os.Root) (*seen, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // only read
	entries, err := dir.ReadDir(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	s := &seen{files: map[string]bool{}, dirs: map[string]bool{}}
	for _, e := range entries {
		switch {
		case e.IsDir():
			s.dirs[e.Name()] = true
		case e.Type().IsRegular():
			s.files[e.Name()] = true
		}
	}
	if s.files[".npmrc"] {
		if text, err := (&hostfile.Project{Root: root}).Open(".npmrc"); err == nil {
			data, _ := io.ReadAll(io.LimitReader(text, 64<<10)) // as much as can be read
			_ = text.Close()                                    // only read
			s.npmrc = string(data)
		}
	}
	return s, nil
}

// any are those of names that are there, as files or as directories.
func (s *seen) any(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !s.files[name] && !s.dirs[name] })
}

// sources are directories that hold what people write.
var sources = []string{"src", "lib", "app", "cmd", "internal", "pkg", "api", "web", "test", "tests", "spec", "testdata", "docs", "examples"}

// secrets are globs of names that are hidden where the top of the project has one.
var secrets = []string{
	".netrc", ".pypirc", ".aws", ".ssh", ".gnupg", ".kube", "id_rsa", "id_ed25519", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx",
	"*.tfstate", "*.tfvars", "credentials.json", "service-account*.json", "secrets", ".secrets", "secrets.*",
}

// tokenInNPMRC is a token that stands there itself, and not the name of a variable.
var tokenInNPMRC = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(_authToken|_auth|_password)\s*=\s*[^\s$]`) })

// propose is a .pinfold.yaml for what was seen.
func propose(s *seen) string {
	var write, show, programs []string
	hide := []string{"**/.env", "**/.env.local", "**/.env.*.local"}
	var about []string
	is := func(what string, names ...string) bool {
		if len(s.any(names...)) == 0 {
			return false
		}
		about = append(about, what)
		return true
	}
	for _, name := range sources {
		if s.dirs[name] {
			write = append(write, name)
		}
	}
	if len(write) == 0 {
		write = []string{"."}
	}
	if is("Go", "go.mod", "go.work") {
		show = append(show, "~/go/pkg/mod")
		programs = append(programs, "go")
		write = append(write, s.any("bin")...)
	}
	if is("npm", "package.json") {
		programs = append(programs, "node", "npm")
		if len(s.any("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock")) > 0 {
			write = append(write, "node_modules")
		}
		write = append(write, s.any("dist", "build", "coverage")...)
	}
	if is("Python", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile") {
		programs = append(programs, "python3")
		write = append(write, s.any(".venv", "venv", ".pytest_cache", ".mypy_cache", ".ruff_cache")...)
	}
	if is("Rust", "Cargo.toml") {
		show = append(show, "~/.cargo/bin", "~/.cargo/registry", "~/.rustup")
		write = append(write, "target")
	}
	if slices.Contains(write, ".") {
		write = []string{"."}
	}
	show = append(show, installed(s.real, programs)...)
	for _, glob := range secrets {
		for _, names := range []map[string]bool{s.files, s.dirs} {
			for name := range names {
				if ok, _ := path.Match(glob, name); ok && !slices.Contains(hide, "**/"+glob) {
					hide = append(hide, "**/"+glob)
				}
			}
		}
	}
	if tokenInNPMRC().MatchString(s.npmrc) {
		hide = append(hide, ".npmrc")
	}

	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("# What 'pinfold run' and 'pinfold claude' do in this project without any flag.")
	say("# What it opens counts after 'pinfold trust', and after a change of this file anew.")
	say("# All keys: https://github.com/pinfold-dev/pinfold/blob/main/docs/project-file.md")
	say("version: 1")
	say("run:")
	if len(about) > 0 {
		say("  # Written, with all beneath it, as in %s projects. git's own settings and what", strings.Join(about, " and "))
		say("  # editors and agents run by themselves stay as they are. [.] is all of it.")
	} else {
		say("  # Written, with all beneath it, but for git's own settings and what editors and")
		say("  # agents run by themselves. [src, docs] would be less.")
	}
	say("  write: %s", flow(write))
	say("  # Names that do not exist inside, also where they appear later.")
	say("  hide: %s", flow(hide))
	if s.dirs[".git"] || s.files[".git"] {
		say("  # git commit works.")
		say("  git: true")
	}
	if len(show) > 0 {
		say("  # Your files outside of the project that may be read, where they exist.")
		say("  ro: %s", flow(show))
	}
	if slices.Contains(about, "Go") {
		say("  # Without a home that is kept each run compiles Go's standard library anew.")
	}
	say("  # home: ~/.agent-home  # keeps caches and logins from run to run; make it first")
	say("  # env: [NPM_TOKEN]     # variables of yours that are passed on")
	say("  # net: none            # takes the network away")
	return b.String()
}

// installed are the places in the user's home that programs are made of, beginning with
// ~/: the file is of everybody who works in the project. Of a program that lies elsewhere
// a run says how to show it.
func installed(root string, programs []string) (show []string) {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return nil
	}
	host := launchprofile.Host{Path: os.Getenv("PATH"), Home: home, System: launcher.System, Unsafe: []string{root}}
	for _, program := range programs {
		found, err := launchprofile.Find(host, program, nil, nil)
		if err != nil {
			continue // then a run says how to show it
		}
		for _, at := range found.Show {
			rest, in := hostpath.Beneath(at, home)
			if at = "~/" + rest; in && rest != "." && !slices.Contains(show, at) {
				show = append(show, at)
			}
		}
	}
	return show
}

var plain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z.~/][A-Za-z0-9_./~-]*$`) })

// flow is a list of YAML on one line.
func flow(words []string) string {
	var quoted []string
	for _, word := range words {
		if !plain().MatchString(word) {
			text, _ := json.Marshal(pathresolver.EscapePath(word)) // a string always can be
			word = string(text)
		}
		quoted = append(quoted, word)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
