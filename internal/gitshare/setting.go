package gitshare

import "strings"

// coreWorktree is the value of core.worktree in a git configuration.
func coreWorktree(text string) (value string, ok bool) { return setting(text, "core", "worktree") }

// setting is the last value of a setting in a section without a subsection, in
// the syntax of git-config(1). What is included is not read: git writes this
// setting into the file itself. ok is false where it is not there; a value that
// cannot be read is not there either.
func setting(text, section, name string) (value string, ok bool) {
	in := false
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if rest, head := strings.CutPrefix(line, "["); head {
			title, after, closed := strings.Cut(rest, "]")
			in = closed && strings.EqualFold(strings.TrimSpace(title), section)
			line = strings.TrimSpace(after)
		}
		key, raw, found := strings.Cut(line, "=")
		for strings.HasSuffix(raw, `\`) && !strings.HasSuffix(raw, `\\`) && i+1 < len(lines) {
			i++
			raw = strings.TrimSuffix(raw, `\`) + lines[i]
		}
		if !in || !found || !strings.EqualFold(strings.TrimSpace(key), name) {
			continue
		}
		value, ok = unquote(strings.TrimSpace(raw))
	}
	return value, ok
}

// unquote reads a value: parts in double quotes, escapes, and a comment.
func unquote(raw string) (string, bool) {
	var b strings.Builder
	quoted := false
	end := 0 // of what is not trailing space
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '"':
			quoted = !quoted
			end = b.Len()
			continue
		case c == '\\':
			i++
			if i == len(raw) {
				return "", false
			}
			at := strings.IndexByte(`\"nt`, raw[i])
			if at < 0 {
				return "", false
			}
			b.WriteByte("\\\"\n\t"[at])
		case !quoted && (c == '#' || c == ';'):
			return b.String()[:end], true
		default:
			b.WriteByte(c)
			if !quoted && (c == ' ' || c == '\t') {
				continue
			}
		}
		end = b.Len()
	}
	return b.String()[:end], !quoted
}
