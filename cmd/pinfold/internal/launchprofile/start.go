package launchprofile

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
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

// Telling are the arguments and the entries of --env that tell a model the rules, whose
// text stands in file. args are the user's.
func (p *Profile) Telling(file string, text []byte, args []string) (tell, env []string) {
	asJSON, _ := json.Marshal(string(text)) // a string always can be
	fill := strings.NewReplacer("{file}", file, "{json}", string(asJSON))
	own := func(arg string) bool {
		return slices.ContainsFunc(p.TellUnless, func(begin string) bool { return strings.HasPrefix(arg, begin) })
	}
	if !slices.ContainsFunc(args, own) {
		for _, arg := range p.TellArgs {
			tell = append(tell, fill.Replace(arg))
		}
	}
	for _, name := range mapKeys(p.TellSet) {
		env = append(env, name+"="+fill.Replace(p.TellSet[name]))
	}
	return tell, env
}

// TellIn makes the files of TellHome in a home, whose path leads over no link. An agent
// can write there: no link in it leads out, and what lies in the way is not read unless
// it is a file of the same length.
func (p *Profile) TellIn(home, file string) error {
	if len(p.TellHome) == 0 {
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
	for _, name := range mapKeys(p.TellHome) {
		text := p.TellHome[name]
		if text == "{file}" {
			if to, err := root.Readlink(name); err == nil && to == file {
				continue
			}
		} else if holds(root, name, text) {
			continue
		}
		err := root.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			if err = root.Remove(name); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		switch {
		case err != nil:
		case text == "{file}":
			err = root.Symlink(file, name)
		default:
			err = writeNew(root, name, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
