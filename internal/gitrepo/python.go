package gitrepo

import (
	"strings"
)

// isPython reports whether a program is an interpreter of Python.
func isPython(name string) bool {
	return strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy")
}

// python names the modules that Python takes from the directory where it is
// started, before its own (python(1), -m, -c, -I and -P).
func (in *inspector) python(it item, p simple) error {
	isolated := false
	for i := 0; i < len(p.args); i++ {
		w := p.args[i]
		if w.unknown == 0 || len(w.text) < 2 || w.text[0] != '-' {
			return nil // a script, beside which its modules lie
		}
		if w.text[1] == '-' {
			continue
		}
		for j := 1; j < len(w.text); j++ {
			option := w.text[j]
			switch option {
			case 'I', 'P':
				isolated = true
				continue
			case 'm', 'c', 'W', 'X':
			default:
				continue
			}
			value := w.text[j+1:]
			if value == "" && i+1 < len(p.args) {
				i++
				value = p.args[i].text
			}
			if option == 'W' || option == 'X' {
				break
			}
			if isolated {
				return nil
			}
			return in.pythonTakes(it, p.name, option, value)
		}
	}
	return nil
}

// pythonTakes names the module of -m, or those that the code of -c imports.
func (in *inspector) pythonTakes(it item, name string, option byte, value string) error {
	command, names := name+" -c", []string{value}
	if option == 'm' {
		command = name + " -m " + value
	} else {
		names = nil
		for _, match := range importLine().FindAllStringSubmatch(value, -1) {
			list, _, _ := strings.Cut(match[1], " import ")
			for one := range strings.SplitSeq(list, ",") {
				if fields := strings.Fields(one); len(fields) > 0 {
					names = append(names, fields[0])
				}
			}
		}
	}
	for _, module := range names {
		parts := strings.Split(module, ".")
		if !moduleName().MatchString(module) || len(parts) > maxModule {
			continue
		}
		for _, base := range in.basesOf(it, false) {
			if err := in.module(it, base, parts); err != nil {
				return err
			}
		}
	}
	return in.runner(it, command, "argparse.py", true)
}

// module names the files by which Python finds a module beneath dir: source,
// compiled, and a package's own where the package is there already, since an agent
// may be there to write the rest of it.
func (in *inspector) module(it item, dir string, parts []string) error {
	for _, part := range parts {
		if it.typed() && in.there(dir, part) {
			return nil // the project's own, which an agent may be there to write
		}
		if err := in.moduleFiles(it, dir, part); err != nil {
			return err
		}
		at, err := in.resolve(join(dir, part))
		if err != nil {
			return it.fail(err.Error())
		}
		if !at.exists || !at.mode.IsDir() {
			if in.covers(at.path) {
				return in.name(at, it.names())
			}
			return nil
		}
		in.add(at.links, it.names())
		dir = at.path
		for _, own := range []string{"__init__", "__main__"} {
			if err := in.moduleFiles(it, dir, own); err != nil {
				return err
			}
		}
	}
	return nil
}

// moduleFiles names a module's source, and what it may be compiled to.
func (in *inspector) moduleFiles(it item, dir, name string) error {
	if err := in.glob(it, dir, name+moduleEndings); err != nil {
		return err
	}
	return in.glob(it, dir, "__pycache__/"+name+".*")
}

// there reports whether dir has a module of Python.
func (in *inspector) there(dir, name string) bool {
	for _, ending := range []string{"", ".py"} {
		if at, err := in.resolve(join(dir, name+ending)); err == nil && at.exists {
			return true
		}
	}
	return false
}
