package gitrepo

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// loads names the directories from which Ruby and Perl are told to load, and what
// Ruby is told to load from a path (-I and -r).
func (in *inspector) loads(it item, p simple) error {
	for i, w := range p.args {
		for _, option := range []string{"-I", "-Mlib=", "-r"} {
			value, ok := strings.CutPrefix(w.text, option)
			if !ok || w.unknown >= 0 && w.unknown < len(option) {
				continue
			}
			at := w
			at.text = value
			if at.unknown >= 0 {
				at.unknown -= len(option)
			}
			if value == "" && i+1 < len(p.args) {
				at = p.args[i+1]
			}
			switch {
			case option != "-r":
				if err := in.directories(it, at); err != nil {
					return err
				}
			case at.unknown < 0 && strings.Contains(at.text, "/"):
				for _, ending := range []string{"", ".rb", ".so"} {
					if err := in.found(it, at.text+ending); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// scripts names what an interpreter of JavaScript finds under a name without its
// ending: a script, and what is loaded before it.
func (in *inspector) scripts(it item, p simple) error {
	option := ""
	for _, w := range p.args {
		if strings.HasPrefix(w.text, "-") {
			option, _, _ = strings.Cut(w.text, "=")
			_, w.text, _ = strings.Cut(w.text, "=")
		}
		if w.text == "" || w.unknown >= 0 || w.text == "run" {
			continue
		}
		loaded := slices.Contains([]string{"-r", "--require", "--import", "--loader", "--experimental-loader"}, option)
		if loaded && w.text[0] != '.' && w.text[0] != '/' {
			w.text = "node_modules/" + w.text // of a package
			if it.typed() {
				option = ""
				continue
			}
			if err := in.found(it, w.text); err != nil {
				return err
			}
		}
		if dir, name := path.Split(w.text); name != "" && name != "." && name != ".." {
			for _, base := range in.basesOf(it, false) {
				if err := in.glob(it, join(base, dir), literal(name)+scriptEndings); err != nil {
					return err
				}
			}
		}
		if option == "" {
			return nil // what follows are the script's own arguments
		}
		option = ""
	}
	return nil
}

// packages names the program of a package that is run by its name.
func (in *inspector) packages(it item, p simple) error {
	if it.typed() {
		return nil
	}
	doubt := false
	for _, w := range p.args {
		switch {
		case w.unknown >= 0:
			return nil
		case strings.HasPrefix(w.text, "-"):
			doubt = !strings.Contains(w.text, "=") && w.text != "--"
			continue
		case passOn[w.text]:
			doubt = false
			continue
		}
		if match := binName().FindStringSubmatch(w.text); match != nil {
			if err := in.found(it, path.Join("node_modules/.bin", match[1])); err != nil {
				return err
			}
		}
		if !doubt {
			return nil
		}
		doubt = false
	}
	return nil
}

// enters gives a command that changes its directory the further directories where
// relative paths may begin, and marks the words that name them.
func (in *inspector) enters(it item, words []word) (item, error) {
	for i := range words {
		w := &words[i]
		if i == 0 || w.unknown >= 0 || w.text == "" || w.text[0] == '-' || w.role != roleArgument {
			continue
		}
		before := words[i-1]
		if before.part != w.part || before.role != roleCommand || before.text != "cd" && before.text != "pushd" {
			continue
		}
		w.entered = true
		bases := slices.Clone(in.basesOf(it, false))
		for _, base := range in.basesOf(it, false) {
			at, err := in.resolve(join(base, w.text))
			if err != nil {
				return it, it.fail(err.Error())
			}
			in.add(at.links, it.names())
			if !slices.Contains(bases, at.path) {
				bases = append(bases, at.path)
			}
		}
		if len(bases) > maxBases {
			return it, it.fail("the command changes its directory too often")
		}
		it.bases = bases
	}
	return it, nil
}

// maxBases bounds the directories where one command may be.
const maxBases = 4 * maxWorktrees

// hookScripts tells of the runners that hooks which are there call. A hook itself
// is protected by the caller, and what it calls by a path is not named.
func (in *inspector) hookScripts() error {
	dirs := in.hookDirs
	if in.repo.CommonDir != "" {
		dirs = append(dirs, filepath.Join(in.repo.CommonDir, "hooks"))
	}
	for _, dir := range dirs {
		if filepath.Base(dir) == "_" {
			dirs = append(dirs, filepath.Dir(dir)) // of husky, whose hooks in _ call those beside it
		}
	}
	for _, dir := range dirs {
		entries, err := in.opener.list(dir, maxNames)
		if err != nil {
			continue // there are none, or git reports it
		}
		for _, e := range entries {
			if !slices.Contains(hooks, e.Name()) || !e.Type().IsRegular() {
				continue
			}
			file := filepath.Join(dir, e.Name())
			text, err := in.read(file, maxFile)
			if err != nil || !isShell(text) {
				continue
			}
			it := item{setting: setting{section: "hooks", name: e.Name()}, file: file, hook: true}
			// What is not understood is not told: the hook itself is protected.
			_ = in.commandAt(it, string(text), "", 0, true)
		}
	}
	return nil
}

// isShell reports whether a script is one of a shell's: without a first line that
// says more, it is.
func isShell(text []byte) bool {
	line, _, _ := strings.Cut(string(text), "\n")
	interpreter, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return !strings.Contains(line, "\x00")
	}
	for field := range strings.FieldsSeq(interpreter) {
		if strings.HasSuffix(filepath.Base(field), "sh") {
			return true
		}
	}
	return false
}
