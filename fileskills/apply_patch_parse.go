package fileskills

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// The bounds of a patch.
const (
	maxPatchBytes = 8 << 20
	maxPatchFiles = 100
	maxPatchHunks = 2000
)

// patchOp is what a section of a patch does.
type patchOp string

const (
	patchAdd    patchOp = "Add"
	patchUpdate patchOp = "Update"
	patchDelete patchOp = "Delete"
)

// patchFile is one section of a patch.
type patchFile struct {
	op     patchOp
	path   string // unsafe
	moveTo string // unsafe; of an update, "" if it stays
	line   int    // of the patch
	added  string // content of a new file
	hunks  []hunk
}

// hunk is one change of an update.
type hunk struct {
	line     int      // of the patch
	anchors  []string // texts of the @@ lines
	old, new []string // lines: context and removed, context and added
	changes  bool     // has a - or a +
	atEnd    bool     // *** End of File
}

// patchText is the text of a patch.
type patchText string

var _ pathUser = patchText("")

func (patchText) actions() []access.Action {
	return []access.Action{access.FSRead, access.FSWrite, access.FSMove, access.FSDelete}
}

// uses are what every section does to its paths.
func (p patchText) uses() ([]use, error) {
	files, err := parsePatch(string(p))
	if err != nil {
		return nil, err
	}
	var uses []use
	for _, f := range files {
		switch f.op {
		case patchAdd:
			uses = append(uses, use{f.path, access.FSWrite})
		case patchDelete:
			uses = append(uses, use{f.path, access.FSDelete})
		case patchUpdate:
			uses = append(uses, use{f.path, access.FSRead}, use{f.path, access.FSWrite})
			if f.moveTo != "" {
				uses = append(uses, use{f.path, access.FSMove}, use{f.moveTo, access.FSMove}, use{f.moveTo, access.FSWrite})
			}
		}
	}
	return uses, nil
}

// parsePatch reads a V4A patch, the format of OpenAI's apply_patch:
//
//	*** Begin Patch
//	*** Add File: PATH            then lines that begin with +
//	*** Delete File: PATH
//	*** Update File: PATH
//	*** Move to: PATH             optional
//	@@ LINE                       optional, several: a line above the hunk
//	 context, -removed, +added    an empty line is an empty context line
//	*** End of File               optional: the hunk ends the file
//	*** End Patch
//
// Empty lines before a line of asterisks or @@ separate, and mean nothing. As with
// OpenAI's own, white space around a line of asterisks means nothing either, but in
// front of it within an update, where it makes a context line; and the whole may be
// the here-document of a shell, as models write it that know the command.
func parsePatch(text string) ([]patchFile, error) {
	if len(text) > maxPatchBytes {
		return nil, fail(CodeTooLarge, "", "the patch has %d bytes; at most %d are taken", len(text), maxPatchBytes)
	}
	p := patchParser{lines: strings.Split(strings.TrimSpace(lineFeeds(text)), "\n")}
	if last := len(p.lines) - 1; last > 0 && strings.TrimSpace(p.lines[last]) == "EOF" {
		switch strings.TrimSpace(p.lines[0]) {
		case "<<EOF", "<<'EOF'", `<<"EOF"`:
			p.lines, p.at = p.lines[:last], 1
		}
	}
	if p.at == len(p.lines) || strings.TrimSpace(p.lines[p.at]) != "*** Begin Patch" {
		return nil, p.bad(`the first line must be "*** Begin Patch"`)
	}
	p.at++
	if last := len(p.lines) - 1; strings.TrimSpace(p.lines[last]) != "*** End Patch" {
		p.at = last
		return nil, p.bad(`the last line must be "*** End Patch"`)
	}
	p.lines = p.lines[:len(p.lines)-1]
	var files []patchFile
	for p.at < len(p.lines) {
		if strings.TrimSpace(p.lines[p.at]) == "" {
			p.at++
			continue
		}
		if len(files) == maxPatchFiles {
			return nil, p.bad("more than %d files are not taken", maxPatchFiles)
		}
		f, err := p.file()
		if err != nil {
			return nil, err
		}
		files = append(files, *f)
	}
	if len(files) == 0 {
		return nil, p.bad("it has no files")
	}
	return files, nil
}

// patchParser reads a patch line by line.
type patchParser struct {
	lines []string
	at    int
	hunks int
}

// bad is the error of the current line.
func (p *patchParser) bad(format string, args ...any) error {
	e := fail(CodeInvalidArgument, "", "patch line %d: %s. Nothing was changed.", p.at+1, fmt.Sprintf(format, args...))
	return e.hint("Sections are *** Add File:, *** Update File: (then *** Move to:, @@ lines, and lines with space, - or + in front) and *** Delete File:.")
}

func (p *patchParser) file() (*patchFile, error) {
	f := &patchFile{line: p.at + 1}
	head := strings.TrimSpace(p.lines[p.at])
	for _, op := range []patchOp{patchAdd, patchUpdate, patchDelete} {
		if path, ok := strings.CutPrefix(head, "*** "+string(op)+" File: "); ok {
			f.op, f.path = op, path
		}
	}
	if f.path == "" {
		return nil, p.bad("%q begins no section", clip(head, 80))
	}
	p.at++
	switch f.op {
	case patchAdd:
		return f, p.add(f)
	case patchUpdate:
		return f, p.update(f)
	}
	return f, nil
}

func (p *patchParser) add(f *patchFile) error {
	var b strings.Builder
	blank := -1 // the first of empty lines, which a section may follow
	for ; p.at < len(p.lines); p.at++ {
		line, ok := strings.CutPrefix(p.lines[p.at], "+")
		switch padded := strings.TrimSpace(line); {
		case ok && blank < 0:
			b.WriteString(line + "\n")
		case !ok && padded == "":
			if blank < 0 {
				blank = p.at
			}
		case !ok && strings.HasPrefix(padded, "*** "):
			f.added = b.String()
			return nil
		default:
			if blank >= 0 {
				p.at = blank
			}
			return p.bad("every line of a new file begins with +")
		}
	}
	f.added = b.String()
	return nil
}

// separates reports whether only empty lines lie between here and the next
// marker or the end.
func (p *patchParser) separates() bool {
	for _, line := range p.lines[p.at:] {
		if line != "" {
			return strings.HasPrefix(line, "*** ") || strings.HasPrefix(line, "@@")
		}
	}
	return true
}

func (p *patchParser) update(f *patchFile) error {
	if p.at < len(p.lines) {
		if to, ok := strings.CutPrefix(p.lines[p.at], "*** Move to: "); ok {
			if f.moveTo = strings.TrimRight(to, " \t"); f.moveTo == "" {
				return p.bad("the new path is missing")
			}
			p.at++
		}
	}
	for p.at < len(p.lines) {
		switch line := p.lines[p.at]; {
		case line == "" && p.separates():
			p.at++
		case strings.HasPrefix(line, "*** "):
			return p.finish(f)
		case len(f.hunks) > 0 && !strings.HasPrefix(line, "@@"):
			return p.bad("a further hunk begins with @@")
		case p.hunks == maxPatchHunks:
			return p.bad("more than %d hunks are not taken", maxPatchHunks)
		default:
			h, err := p.hunk()
			if err != nil {
				return err
			}
			p.hunks++
			f.hunks = append(f.hunks, *h)
		}
	}
	return p.finish(f)
}

func (p *patchParser) finish(f *patchFile) error {
	if len(f.hunks) == 0 && f.moveTo == "" {
		p.at = f.line - 1
		return p.bad("the update of %q changes nothing", clip(f.path, 80))
	}
	return nil
}

func (p *patchParser) hunk() (*hunk, error) {
	h := &hunk{line: p.at + 1}
	for ; p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], "@@"); p.at++ {
		anchor := strings.TrimPrefix(p.lines[p.at], "@@")
		if strings.TrimSpace(anchor) == "" {
			continue
		}
		if anchor[0] != ' ' {
			return nil, p.bad("a space is missing behind @@")
		}
		h.anchors = append(h.anchors, anchor[1:])
	}
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		switch {
		case line == "" && p.separates(), strings.HasPrefix(line, "@@"):
			return h, p.complete(h)
		case strings.TrimRight(line, " \t") == "*** End of File":
			h.atEnd = true
			p.at++
			return h, p.complete(h)
		case strings.HasPrefix(line, "*** "):
			return h, p.complete(h)
		case line == "" || line[0] == ' ':
			h.old = append(h.old, strings.TrimPrefix(line, " "))
			h.new = append(h.new, strings.TrimPrefix(line, " "))
		case line[0] == '-':
			h.old, h.changes = append(h.old, line[1:]), true
		case line[0] == '+':
			h.new, h.changes = append(h.new, line[1:]), true
		default:
			return nil, p.bad("a line of a hunk begins with a space, - or +")
		}
	}
	return h, p.complete(h)
}

func (p *patchParser) complete(h *hunk) error {
	if !h.changes {
		p.at = h.line - 1
		return p.bad("the hunk has no line with - or +")
	}
	return nil
}
