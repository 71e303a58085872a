package skills

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/shellshape"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// maxListed is how many names of a directory are compared with what the policy
// hides before a command may list it.
const maxListed = 10_000

// command decides about what the tool Bash is to run. Outside a view a command may
// do anything that its user may, so without a person one is allowed only if it is
// known whole, the policy lists it, and the rules allow every place that it
// touches. A place that is named and that the rules refuse is a refusal; what else
// stands in the way is a reason to ask for exactly this call.
func (c *claudeCall) command(ctx context.Context, cwd string) {
	known, err := shellshape.Read(c.effects.Command)
	if c.held == nil {
		c.ask("no policy speaks of commands, and outside 'pinfold run' one can do anything")
	}
	if err != nil {
		c.ask(c.unknown() + pathresolver.EscapePath(err.Error()))
	}
	at := resolved.Explain(c.resolver, access.OpRead, cwd)
	if !at.Allowed || at.Place == "" || at.Place == ".git" || strings.HasPrefix(at.Place, ".git/") {
		c.ask("the working directory '" + pathresolver.EscapePath(cwd) + "' is no place in the project where commands are known")
		return
	}
	added := false // to the index, by a part before
	for _, part := range known.Parts {
		if c.held != nil {
			c.ask(c.unlisted(part))
		}
		c.ask(c.unsure(part, cwd, at.Place))
		if part.Nested && added {
			c.ask("'git add' may have made a submodule, in which '" + pathresolver.EscapePath(part.Name()) + "' runs git by that one's configuration: run it by itself")
		}
		added = added || part.Name() == "git add"
		for _, u := range part.Uses {
			c.shellUse(ctx, u, cwd, part)
		}
	}
}

// unknown begins the reason for asking about a command that is not known whole.
func (c *claudeCall) unknown() string {
	if c.held != nil {
		if listed, any := c.rules().BashCommands(); any {
			return "the policy lists commands (" + pathresolver.EscapePath(strings.Join(listed, ", ")) + "), and this one could not be understood completely: "
		}
	}
	return "outside 'pinfold run' a command can do anything, and this one could not be understood completely: "
}

// unlisted is why the policy does not let a known command be run without asking;
// "" where it does.
func (c *claudeCall) unlisted(part shellshape.Part) string {
	if part.Passes {
		return ""
	}
	name := pathresolver.EscapePath(part.Name())
	if of, allows := c.rules().BashPolicy(); !allows(string(part.Class)) {
		return fmt.Sprintf("bash_policy is %s, and '%s' needs %s", of, name, part.Class)
	}
	listed, any := c.rules().BashCommands()
	switch {
	case !any:
		return "the policy lists no commands (bash_commands), and outside 'pinfold run' one can do anything"
	case !slices.ContainsFunc(listed, func(l string) bool {
		words := strings.Fields(l)
		return len(words) > 0 && len(words) <= len(part.Argv) && slices.Equal(words, part.Argv[:len(words)])
	}):
		return "the policy lists commands (" + pathresolver.EscapePath(strings.Join(listed, ", ")) + "), and '" + name + "' is not among them"
	}
	return ""
}

// unsure is why a known program may not be what it seems; "" where nothing suggests
// that. It looks at what is there now, and is advice, as the hook is.
func (c *claudeCall) unsure(part shellshape.Part, cwd, place string) string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			dir = cwd + "/" + dir
		}
		if c.mayWrite(dir + "/" + part.Argv[0]) {
			return "PATH leads to '" + pathresolver.EscapePath(dir) + "', which the agent may write"
		}
	}
	if !part.Repository {
		return ""
	}
	root := c.resolver.Root()
	for dir := place; dir != "."; dir = filepath.Dir(dir) {
		for _, name := range []string{".git", "HEAD"} { // a bare repository has no .git
			if _, err := os.Lstat(filepath.Join(root, dir, name)); !errors.Is(err, fs.ErrNotExist) {
				return "'" + pathresolver.EscapePath(dir) + "' looks like another repository, whose configuration can run programs"
			}
		}
	}
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		return "the project's directory is no repository's"
	}
	for _, name := range []string{".git/config", ".git/config.worktree", ".git/commondir", ".git/hooks/x"} {
		if c.mayWrite(root + "/" + name) {
			return "'" + name + "' may be written by the agent, and can have git run programs"
		}
	}
	if !part.Nested {
		return ""
	}
	links, err := gitLinks(root)
	if err != nil {
		return "git's index is not understood: " + err.Error()
	}
	for _, at := range links {
		if !c.operators(root, at) {
			return "git looks into the submodule '" + pathresolver.EscapePath(at) + "' by a configuration that the agent may write"
		}
	}
	return ""
}

// operators reports whether a submodule's git configuration can be trusted, since the
// agent cannot have written it in this call or an earlier one: the submodule's
// repository is one of the project's own (gitmodules(5)), or lies where the agent does
// not write.
func (c *claudeCall) operators(root, at string) bool {
	dir := filepath.Join(root, at)
	st, err := os.Lstat(filepath.Join(dir, ".git"))
	if errors.Is(err, fs.ErrNotExist) {
		return true // it is not checked out
	}
	if err == nil && st.Mode().IsRegular() {
		text, err := os.ReadFile(filepath.Join(dir, ".git"))
		to, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), "gitdir: ")
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		if to = filepath.Clean(to); err == nil && ok && strings.HasPrefix(to, filepath.Join(root, ".git/modules")+"/") {
			return !c.mayWrite(to + "/config")
		}
	}
	return !c.mayWrite(dir + "/x")
}

// mayWrite reports whether the rules let the agent write a file, if only after
// asking.
func (c *claudeCall) mayWrite(path string) bool {
	at := resolved.Explain(c.resolver, access.OpWrite, path)
	return at.Allowed || at.Rule == pathresolver.RuleAsk
}

// shellUse decides about one place of a known command.
func (c *claudeCall) shellUse(ctx context.Context, u shellshape.Use, cwd string, part shellshape.Part) {
	action, base := access.FSRead, cwd
	switch u.Show {
	case shellshape.Entries, shellshape.Names:
		action = access.FSList
	case shellshape.Write:
		action = access.FSWrite
	case shellshape.WriteBeneath:
		if place := resolved.Explain(c.resolver, access.OpRead, cwd).Place; !coversAll(c.resolver.WritePaths(), place) {
			c.refuse(ctx, access.FSWrite, place, "'"+part.Argv[0]+"' may write beneath '"+pathresolver.EscapePath(place)+"', and no write path covers it")
		}
		return
	}
	if u.InTree {
		base = c.resolver.Root()
	}
	if u.InTree && u.Show != shellshape.Write {
		c.inTree(ctx, u, action, part)
		return
	}
	path := u.Path
	if !filepath.IsAbs(path) {
		path = base + "/" + path
	}
	there, err := os.Stat(path)
	if u.Maybe && err != nil { // it is no path, unless the rules refuse the name
		if _, err := c.resolver.Resolve(access.OpRead, path, 0); errors.As(err, new(*pathresolver.DeniedError)) {
			c.refuse(ctx, action, path, err.Error())
		}
		return
	}
	place := c.place(ctx, action, path)
	if clean := filepath.Clean(path); clean != path && strings.Contains(path, "..") { // see claudecode
		_ = c.place(ctx, action, clean)
	}
	if place == "" {
		if c.refused == "" {
			c.ask("what lies outside the project is not known")
		}
		return
	}
	beneath := u.Show == shellshape.Names || u.Show == shellshape.Contents
	switch isDir := err == nil && there.IsDir(); {
	case beneath && (isDir || err != nil), u.Show == shellshape.File && isDir:
		c.beneath(place, u.Show != shellshape.Names, part)
	case u.Show == shellshape.Entries && isDir:
		c.listing(path, place, u.Dots)
	}
}

// decide is what the rules say about an operation at a place.
func (c *claudeCall) decide(op access.Op, place string) *pathresolver.DeniedError {
	return resolved.Of(c.resolver).(interface {
		Decide(op access.Op, place string, kind fs.FileMode) *pathresolver.DeniedError
	}).Decide(op, place, 0)
}

// inTree decides about a path in git's history. It is one by its name alone: links
// of the work tree lead it nowhere, and what the name stood for is not told.
func (c *claudeCall) inTree(ctx context.Context, u shellshape.Use, action access.Action, part shellshape.Part) {
	switch denied := c.decide(access.OpRead, u.Path); {
	case denied == nil:
	case denied.Rule != pathresolver.RuleAsk:
		c.refuse(ctx, action, u.Path, denied.Error())
		return
	case c.held == nil:
		c.ask(denied.Error())
	}
	c.touches(action, u.Path)
	there, err := os.Lstat(filepath.Join(c.resolver.Root(), u.Path))
	if u.Show != shellshape.File || err != nil || !there.Mode().IsRegular() {
		c.beneath(u.Path, u.Show != shellshape.Names, part)
	}
}

// beneath asks about all that lies beneath a place, where the policy keeps some of
// it back.
func (c *claudeCall) beneath(place string, content bool, part shellshape.Part) {
	if rule := c.hides(place, content); rule != "" {
		c.ask(fmt.Sprintf("'%s' could show what the policy keeps back (%s) beneath '%s'. Name files, or directories without it",
			pathresolver.EscapePath(part.Name()), pathresolver.EscapePath(rule), pathresolver.EscapePath(place)))
	}
}

// coversAll reports whether a write path covers all of a directory.
func coversAll(writable []string, place string) bool {
	return slices.ContainsFunc(writable, func(w string) bool {
		return w == "." || w == place || strings.HasPrefix(place, w+"/")
	})
}

// listing asks about a directory that holds a name which the policy hides.
func (c *claudeCall) listing(path, place string, dots bool) {
	dir, err := os.Open(path)
	if err != nil {
		c.ask("'" + pathresolver.EscapePath(place) + "' cannot be looked at")
		return
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxListed + 1)
	if len(names) > maxListed || err != nil && len(names) > 0 {
		c.ask(fmt.Sprintf("'%s' holds more than %d names", pathresolver.EscapePath(place), maxListed))
		return
	}
	for _, name := range names {
		if !dots && name[0] == '.' {
			continue
		}
		if denied := c.decide(access.OpRead, join(place, name)); denied != nil && denied.Rule != pathresolver.RuleAsk {
			c.ask("'" + pathresolver.EscapePath(place) + "' holds names that the policy keeps back")
			return
		}
	}
}

func join(place, name string) string {
	if place == "." {
		return name
	}
	return place + "/" + name
}
