package launchprofile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pinfold-dev/pinfold/internal/hostpath"
)

// Variables are the entries of --env that a profile stands for: each variable that it
// passes on, if lookup has it, and those that it sets.
func (p *Profile) Variables(lookup func(string) (string, bool), root bool) []string {
	var list []string
	for _, name := range p.Env {
		if _, set := lookup(name); set {
			list = append(list, name)
		}
	}
	sets := []map[string]string{p.Set}
	if root {
		sets = append(sets, p.SetAsRoot)
	}
	for _, set := range sets {
		for _, name := range mapKeys(set) {
			list = append(list, name+"="+set[name])
		}
	}
	return list
}

// Told is what a run has for the model of its agent.
type Told struct {
	File string // where the run shows its rules
	Text []byte // what they say
	MCP  bool   // connect 'pinfold mcp'
}

// Telling are the arguments and the entries of --env that tell a model the rules, and
// connect pinfold's server; and args, the user's own, to which the rules are joined
// where they say something in the same place. told is false where they leave no place.
func (p *Profile) Telling(t Told, args []string) (tell, own, env []string, told bool) {
	asJSON, _ := json.Marshal(string(t.Text)) // a string always can be
	fill := strings.NewReplacer("{file}", t.File, "{text}", string(t.Text), "{json}", string(asJSON))
	if t.MCP {
		tell = slices.Clone(p.MCPArgs)
	}
	own, joined := p.join(args, string(t.Text))
	replaced := slices.ContainsFunc(args, func(arg string) bool {
		return slices.ContainsFunc(p.TellUnless, func(begin string) bool { return strings.HasPrefix(arg, begin) })
	})
	words := p.TellArgs
	if replaced {
		words = p.TellElse
	}
	if !joined {
		for _, arg := range words {
			tell = append(tell, fill.Replace(arg))
		}
	}
	set := p.merged(t, p.TellSet, p.MCPSet)
	for _, name := range mapKeys(set) {
		env = append(env, name+"="+fill.Replace(set[name]))
	}
	return tell, own, env, joined || !replaced || len(p.TellElse) > 0
}

// join is args with the rules after what the user tells the model in the argument that
// begins with TellJoin.
func (p *Profile) join(args []string, rules string) (own []string, joined bool) {
	own = slices.Clone(args)
	for i, arg := range own {
		value, ok := strings.CutPrefix(arg, p.TellJoin)
		if p.TellJoin == "" || !ok || strings.HasPrefix(value, "'") || strings.HasPrefix(value, `"""`) {
			continue // other strings of TOML are left as they are
		}
		text := value
		if strings.HasPrefix(value, `"`) && json.Unmarshal([]byte(value), &text) != nil {
			continue
		}
		both, _ := json.Marshal(text + "\n\n" + rules) // a string always can be
		own[i], joined = p.TellJoin+string(both), true
	}
	return own, joined
}

// merged is one map, or where the server is connected both, of which the second counts.
func (p *Profile) merged(t Told, one, connected map[string]string) map[string]string {
	all := maps.Clone(one)
	if t.MCP {
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, connected)
	}
	return all
}

// Connects reports whether the profile knows how 'pinfold mcp' is connected.
func (p *Profile) Connects() bool { return len(p.MCPArgs)+len(p.MCPSet)+len(p.MCPHome) > 0 }

// WithoutOwnSandbox is args, the user's own, with what the agent is started with instead
// of a sandbox that it cannot make. changed are the words that were replaced; an error
// names those that cannot be.
func (p *Profile) WithoutOwnSandbox(args []string) (own, changed []string, err error) {
	for i := 0; i < len(args); i++ {
		said, used := "", 0
		for _, words := range mapKeys(p.OwnSandbox) {
			parts := strings.Fields(words)
			switch {
			case len(parts) <= len(args)-i && slices.Equal(parts, args[i:i+len(parts)]):
				said, used = words, len(parts)
			case len(parts) == 2 && args[i] == parts[0]+"="+parts[1]:
				said, used = words, 1
			}
		}
		switch instead := p.OwnSandbox[said]; {
		case used == 0:
			own = append(own, args[i])
			continue
		case instead == "":
			return nil, nil, fmt.Errorf("%s cannot make a sandbox of its own inside a run, and '%s' asks for one", p.Program, said)
		default:
			own, changed = append(own, strings.Fields(instead)...), append(changed, said)
		}
		i += used - 1
	}
	return own, changed, nil
}

// TellIn makes the files of TellHome and MCPHome in a home, whose path leads over no
// link. An agent can write there: no link in it leads out, and what lies in the way is
// not read unless it is a file of the same length.
func (p *Profile) TellIn(home string, t Told) error {
	files := p.merged(t, p.TellHome, p.MCPHome)
	if len(files) == 0 {
		return nil
	}
	dir, err := hostpath.Open(home, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // only compared
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // holds a descriptor, nothing to lose
	meant, err := dir.Stat()
	opened, err2 := root.Stat(".")
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if !os.SameFile(meant, opened) {
		return &fs.PathError{Op: "open", Path: home, Err: errors.New("something else has taken its place")}
	}
	for _, name := range mapKeys(files) {
		text := files[name]
		if text == "{file}" {
			if to, err := root.Readlink(name); err == nil && to == t.File {
				continue
			}
		} else if holds(root, name, text) {
			continue
		}
		made, err := makeParents(root, name)
		if err == nil {
			if err = root.Remove(name); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		switch {
		case err != nil:
		case text == "{file}":
			err = root.Symlink(t.File, name)
		default:
			err = writeNew(root, name, text)
		}
		if err != nil {
			return err
		}
		// Root makes them for the user whose home it is.
		if uid, known := hostpath.Owner(home); known && uid != os.Geteuid() {
			for _, path := range append(made, name) {
				if err := root.Lchown(path, uid, -1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// makeParents makes the directories above a file that are not there, and says which.
func makeParents(root *os.Root, name string) (made []string, err error) {
	dir := ""
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(name)), "/") {
		dir = filepath.Join(dir, part)
		switch err := root.Mkdir(dir, 0o700); {
		case err == nil:
			made = append(made, dir)
		case !errors.Is(err, fs.ErrExist):
			return made, err
		}
	}
	return made, nil
}

// holds reports whether a regular file has this text. An agent may have put a FIFO there.
func holds(root *os.Root, name, text string) bool {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(len(text))+1))
	return err == nil && string(data) == text
}

// writeNew makes a file that was not there, and opens no other.
func writeNew(root *os.Root, name, text string) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// HomesDir is where the homes of all profiles are kept, with the logins in them; ""
// where there is no such place. It need not exist.
func HomesDir() string {
	base := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		home := os.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "pinfold", "homes")
}

// KeptHome is where a profile's home is kept. It need not exist.
func (p *Profile) KeptHome() (string, error) {
	dir := HomesDir()
	if dir == "" {
		return "", errors.New("neither $XDG_DATA_HOME nor $HOME names a directory for its home")
	}
	return filepath.Join(dir, p.Home), nil
}

// Install is what to type to install the program; "" where nobody said.
func (p *Profile) Install() string {
	if p.NPM == "" {
		return ""
	}
	return "npm install -g " + p.NPM
}

// Known reports whether a version was tried; an unknown one was not.
func (p *Profile) Known(version string) bool {
	return len(p.Tested) == 0 || slices.ContainsFunc(p.Tested, func(tested string) bool {
		return version == tested || strings.HasPrefix(version, tested+".")
	})
}
