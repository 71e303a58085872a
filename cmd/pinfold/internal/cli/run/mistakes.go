package run

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// hintPlace tells who stands in a place that is likely to be the wrong one: beneath the
// top of a repository, or as root in a project of somebody else.
func (f *runFlags) hintPlace(o *cli.Output, r *pathresolver.Resolver) {
	if _, err := r.Lstat(".git"); err != nil {
		if top := repositoryAbove(r.Root()); top != "" {
			o.Hint(fmt.Sprintf("this is a part of the repository %q, and nothing else of it exists inside, not even for git; %s", top, f.wholeRepository(top, r)))
		}
	}
	if os.Geteuid() != 0 || f.user != "" {
		return
	}
	hintOwner(o, r)
}

// wholeRepository says which flags show a repository from its top, and leave what may be
// written as it is.
func (f *runFlags) wholeRepository(top string, r *pathresolver.Resolver) string {
	words := []string{"-C", top}
	rel, err := filepath.Rel(top, r.Root())
	if paths := r.WritePaths(); err == nil && f.Held == nil && len(paths) > 0 && len(paths) <= maxNamed {
		for _, p := range paths {
			words = append(words, "-w", path.Join(filepath.ToSlash(rel), p))
		}
		return pathresolver.EscapePath(cli.ShellLine(words)) + " shows all of it and lets the same be written; the command starts at its top"
	}
	return pathresolver.EscapePath(cli.ShellLine(words)) + " shows all of it; the command starts at its top"
}

// repositoryAbove is the nearest directory above dir that has a .git, "" if there is
// none below the home directory and the root.
func repositoryAbove(dir string) string {
	home, _ := os.UserHomeDir()
	for dir = filepath.Dir(dir); dir != "/" && dir != home; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
	}
	return ""
}

// installers are programs that write node_modules, and what else they write.
var installers = map[string]string{
	"npm": "package-lock.json", "pnpm": "pnpm-lock.yaml", "yarn": "yarn.lock", "bun": "bun.lock",
}

// installing are their words for changing what is installed.
var installing = []string{"install", "i", "add", "update", "up", "upgrade", "uninstall", "remove", "rm", "dedupe"}

// hintInstaller tells what a package manager writes besides its packages.
func hintInstaller(o *cli.Output, r *pathresolver.Resolver, command []string) {
	name := path.Base(command[0])
	lock, known := installers[name]
	installs := name == "yarn" && len(command) == 1 ||
		slices.ContainsFunc(command[1:], func(arg string) bool { return slices.Contains(installing, arg) })
	if !known || !installs || !slices.Contains(r.WritePaths(), "node_modules") || resolved.Explain(r, access.OpCreate, lock).Allowed {
		return
	}
	o.Hint(fmt.Sprintf("%s writes package.json and %[2]s too: -w package.json -w %[2]s, or -w . for the whole directory", name, lock))
}

// openOutside says why a database in the run was locked.
func openOutside(kinds []refusalKind) (advice []string) {
	for _, k := range kinds {
		if k.rule == sandboxfs.RuleOpenOutside {
			return []string{fmt.Sprintf("the database of '%s' is open outside or in another run, with which an ordinary user's run shares no memory: close it there first", pathresolver.EscapePath(k.place))}
		}
	}
	return nil
}

// remedy is what would have allowed what no write path covered: flags, or where a policy
// lists it. It is nil where nothing of that kind was refused.
func (f *runFlags) remedy(kinds []refusalKind) []string {
	var places []string
	git, others := false, false
	for _, k := range kinds {
		switch {
		case k.rule == sandboxfs.RuleNotOwner || k.rule == sandboxfs.RuleChown || k.rule == sandboxfs.RuleOpenOutside: // no rule's
		case k.rule != pathresolver.RuleNoWritePath || k.place == "":
			others = true
		case k.place == ".git" || strings.HasPrefix(k.place, ".git/"):
			git = true
		case path.Dir(k.place) == ".":
			places = append(places, k.place)
		default:
			places = append(places, path.Dir(k.place))
		}
	}
	places = widest(places)
	if git {
		places = append(places, ".git")
	}
	var words, listed []string
	for _, place := range places {
		shown := pathresolver.EscapePath(cli.ShellLine([]string{place}))
		switch list := f.ListHint(place); {
		case list != "":
			words = append(words, list)
		case f.Held != nil: // no flag widens a policy
			others = true
		case place == ".git":
			words = append(words, "--git")
		case f.trusted && len(f.ofProject.Write) > 0: // -w would stand in the place of the file's list
			listed = append(listed, pathresolver.EscapePath(place))
		default:
			words = append(words, "-w "+shown)
		}
	}
	if len(listed) > 0 {
		words = append(words, fmt.Sprintf("list %s in write of %s and type 'pinfold trust'", strings.Join(listed, ", "), pathresolver.EscapePath(f.project.Name)))
	}
	switch {
	case len(words) == 0 && others:
		return []string{"'pinfold why PATH', with the flags of this run, says what would allow it"}
	case len(words) == 0:
		return nil
	case others:
		return []string{"to allow what can be written: " + strings.Join(words, " ") + "; of the rest 'pinfold why PATH' says more"}
	}
	return []string{"to allow it: " + strings.Join(words, " ")}
}

// maxNamed is how many write paths a hint names one by one.
const maxNamed = 4

// widest leaves out what another place covers, and says "." for more than a person
// would name one by one.
func widest(places []string) []string {
	slices.Sort(places)
	var kept []string
	for _, p := range places {
		if !slices.ContainsFunc(kept, func(k string) bool { return p == k || strings.HasPrefix(p, k+"/") }) {
			kept = append(kept, p)
		}
	}
	if len(kept) > maxNamed {
		return []string{"."}
	}
	return kept
}
