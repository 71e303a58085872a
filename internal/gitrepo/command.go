package gitrepo

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// command names what a command names: each word that leads to something
// beneath root, wherever git may start the command. prefix stands before the
// first word.
func (in *inspector) command(it item, text, prefix string) error {
	if err := in.commandAt(it, text, prefix, 0, true); err != nil {
		return err
	}
	// A path with a space in it is one word to those keys whose value git runs
	// without a shell.
	if strings.ContainsAny(text, " \t") {
		return in.operand(it, word{text: text, unknown: -1}, true)
	}
	return nil
}

// commandAt reads one command. sure means that a shell reads it: a string in
// quotes may be a script or a pattern.
func (in *inspector) commandAt(it item, text, prefix string, depth int, sure bool) error {
	if depth > maxNested {
		return it.fail("commands are nested too deep")
	}
	words, inner, bound := in.readShell(text)
	if in.words += len(words); bound || in.words > maxWords {
		return it.fail("the commands of the configuration have too many words")
	}
	if len(words) > 0 && prefix != "" {
		w := &words[0]
		w.text, w.role = prefix+w.text, roleCommand
		if w.unknown >= 0 {
			w.unknown += len(prefix)
		}
	}
	it, err := in.enters(it, words)
	if err != nil {
		return err
	}
	if sure {
		if err := in.runs(it, words); err != nil {
			return err
		}
	}
	strict := sure && it.own && it.use() != useAlias
	script := false // the word before was -c, or eval
	for _, w := range words {
		if !w.entered && !it.hook {
			if err := in.word(it, w, strict, !sure || script); err != nil {
				return err
			}
		}
		if script || strings.ContainsAny(w.text, " \t\n;") {
			if err := in.commandAt(it, w.text, "", depth+1, sure && script && w.unknown < 0); err != nil {
				return err
			}
		}
		script = w.text == "eval" || len(w.text) > 1 && w.text[0] == '-' && w.text[1] != '-' && strings.HasSuffix(w.text, "c")
	}
	for _, command := range inner {
		if err := in.commandAt(it, command, "", depth+1, sure); err != nil {
			return err
		}
	}
	return nil
}

// word names what one word names. strict makes it an error that a program's
// name is not known before it runs; lenient takes only what exists.
func (in *inspector) word(it item, w word, strict, lenient bool) error {
	if w.role == roleCommand && !strings.ContainsAny(w.text, `/\`) && w.unknown < 0 {
		if w.text == "" {
			return nil
		}
		return in.program(it, w.text)
	}
	text := w.text
	// --option=path, VARIABLE=path, a:b
	if w.role != roleCommand {
		if strings.HasPrefix(text, "-") && !strings.Contains(text, "=") && w.unknown < 0 {
			if at := strings.IndexAny(text, "./~"); at > 1 {
				w.text = text[2:] // -Fpath
				return in.operand(it, w, lenient || text[1] == '-')
			}
			return nil
		}
		if at := strings.IndexByte(text, '='); at >= 0 && (w.unknown < 0 || at < w.unknown) {
			text = text[at+1:]
			w.unknown = max(-1, w.unknown-at-1)
			w.text = text
		}
		if strings.Contains(text, "://") {
			return nil
		}
	}
	if w.unknown < 0 {
		for part := range strings.SplitSeq(text, ":") {
			one := w
			one.text = part
			if err := in.operand(it, one, lenient); err != nil {
				return err
			}
		}
		return nil
	}
	// Something unknown: what stands before it names a directory.
	known := text[:w.unknown]
	if at := strings.LastIndexByte(known, ':'); at >= 0 {
		known = known[at+1:]
	}
	dir := known[:strings.LastIndexByte(known, '/')+1]
	run := w.role == roleCommand || w.role == roleScript
	rooted := strings.HasPrefix(text[w.unknown:], "/")
	switch {
	case dir == "" && w.data:
		return nil
	case dir == "" && known == "" && (run || rooted), dir == "" && run && w.role == roleCommand:
		if strict {
			return it.fail(fmt.Sprintf("%q depends on what only the shell knows; say the path", it.value))
		}
		return nil
	case dir == "":
		return nil
	}
	if it.use() == useAlias && !run {
		return nil
	}
	return in.within(it, dir, strict && run)
}

// within names the directory beneath which a path leads that is not known
// whole.
func (in *inspector) within(it item, dir string, strict bool) error {
	for _, base := range in.basesOf(it, false) {
		at, err := in.resolve(join(base, dir))
		if err != nil {
			return it.fail(err.Error())
		}
		switch {
		case !in.whole(at.path):
			from := it.names()
			from.Path, from.Dir = at.path, true
			if err := in.name(at, from); err != nil {
				return err
			}
		case strict && in.covers(at.path):
			return it.fail(fmt.Sprintf("%q may run anything beneath %q; say the path", it.value, at.path))
		}
		if filepath.IsAbs(dir) {
			break
		}
	}
	return nil
}

// operand names a path that a word is, if it is one. A word without a slash is
// a path if it exists, begins with a dot, or if an interpreter is to run it.
func (in *inspector) operand(it item, w word, lenient bool) error {
	if w.text == "" || len(w.text) > 4096 || w.text[0] == '%' && !strings.Contains(w.text, "/") {
		return nil
	}
	named := strings.Contains(w.text, "/") || len(w.text) > 1 && w.text[0] == '.' || w.role == roleScript && w.text[0] != '-'
	must := !lenient && w.role != roleTarget && named
	for _, base := range in.basesOf(it, false) {
		at, err := in.resolve(join(base, w.text))
		if err != nil {
			return it.fail(strconv.Quote(w.text) + ": " + err.Error())
		}
		switch {
		case !in.covers(at.path) && len(at.links) == 0, !at.exists && !must:
		case in.whole(at.path):
			// "." as an argument says nothing; as a script it is anything.
			if w.role == roleScript && it.own && in.covers(at.path) && it.use() != useAlias {
				return it.fail(fmt.Sprintf("%q may run anything beneath %q; say the path", it.value, at.path))
			}
			in.add(at.links, it.names())
		case it.use() == useAlias && w.role == roleArgument:
		default:
			if err := in.name(at, it.names()); err != nil {
				return err
			}
		}
		if filepath.IsAbs(w.text) {
			break
		}
	}
	return nil
}
