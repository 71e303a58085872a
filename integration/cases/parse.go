package cases

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/txtar"
)

// Load reads every *.txtar in dir. Row ids are unique over all of them.
func Load(dir string) ([]Row, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	var rows []Row
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		group, err := parse(filepath.Base(file), text)
		if err != nil {
			return nil, err
		}
		for _, row := range group {
			if seen[row.ID] {
				return nil, fmt.Errorf("%s: row %s stands twice", row.Where, row.ID)
			}
			seen[row.ID] = true
		}
		rows = append(rows, group...)
	}
	return rows, nil
}

var title = regexp.MustCompile(`^([A-Z]\d\d[a-z]?) (.+)$`)

// parse reads one group.
func parse(file string, text []byte) ([]Row, error) {
	archive := txtar.Parse(text)
	var layout []Entry
	for line := range strings.Lines(string(archive.Comment)) {
		if !strings.HasPrefix(line, "+ ") {
			continue
		}
		entry, err := parseEntry(strings.TrimSpace(line[2:]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		layout = append(layout, entry)
	}
	var rows []Row
	for _, f := range archive.Files {
		m := title.FindStringSubmatch(f.Name)
		if m == nil {
			return nil, fmt.Errorf("%s: %q is no row id and title", file, f.Name)
		}
		row := Row{ID: m[1], Title: m[2], Where: file, Tree: append([]Entry(nil), layout...)}
		if err := row.parse(string(f.Data)); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, row.ID, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (r *Row) parse(text string) error {
	policy := -1
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		mark, rest, _ := strings.Cut(line, " ")
		var err error
		switch mark {
		case "", "#":
		case "+":
			var e Entry
			if e, err = parseEntry(rest); err == nil {
				r.Tree = append(r.Tree, e)
			}
		case "!":
			err = r.add(Line{Kind: LineStep, Text: line}, rest)
		case "policy":
			policy = len(r.Lines)
			err = r.add(Line{Kind: LinePolicy, Text: line}, rest)
		default:
			if policy < 0 { // the safest policy
				policy = len(r.Lines)
				r.Lines = append(r.Lines, Line{Kind: LinePolicy, Text: "policy"})
			}
			err = r.add(Line{Kind: LineOp, Text: line}, line)
		}
		if err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
	}
	if policy < 0 || r.Lines[len(r.Lines)-1].Kind == LineStep {
		return fmt.Errorf("a row ends with an operation")
	}
	return nil
}

func (r *Row) add(l Line, text string) error {
	left, right, hasOutcome := strings.Cut(text, " -> ")
	words, err := split(left)
	if err != nil {
		return err
	}
	l.Words = words
	switch {
	case hasOutcome:
		if l.Want, err = parseOutcome(right); err != nil {
			return err
		}
	case l.Kind == LineOp:
		return fmt.Errorf("no outcome")
	}
	if len(words) == 0 && l.Kind != LinePolicy {
		return fmt.Errorf("no words")
	}
	r.Lines = append(r.Lines, l)
	return nil
}
