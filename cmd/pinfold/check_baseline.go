package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// maxBaseline bounds what is read as a baseline.
const maxBaseline = 64 << 20

// finding is what a baseline knows of a problem: nothing that moves when lines
// or entries are added before it.
type finding struct {
	File    string `json:"file"` // relative to the baseline's directory
	Code    string `json:"code"`
	Path    string `json:"path"`    // where in the document, without indices: fs.write[]
	Message string `json:"message"` // with the project's directory as '.'
}

// baselineEntry is a line of a baseline.
type baselineEntry struct {
	finding
	Count int `json:"count,omitempty"` // how often it occurs; 0 is once

	line int
}

// baseline is a file of known findings. Its form is
// docs/schema/baseline.schema.json: JSON with one finding a line, sorted, so
// that it can be reviewed and merged.
type baseline struct {
	file    string
	entries []baselineEntry
}

// baselineUse is what a baseline did.
type baselineUse struct {
	File    string `json:"file"`
	LeftOut int    `json:"left_out"` // findings that it knows
	Stale   int    `json:"stale"`    // entries that no longer occur
}

func readBaseline(file string) (*baseline, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("baseline %w", fileError(file, err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBaseline+1))
	if err != nil {
		return nil, fmt.Errorf("baseline %w", fileError(file, err))
	}
	if len(data) > maxBaseline {
		return nil, fmt.Errorf("baseline '%s' is longer than %d bytes", file, maxBaseline)
	}
	b := &baseline{file: file}
	if err := b.decode(data); err != nil {
		return nil, fmt.Errorf("baseline '%s' cannot be read: %w", file, err)
	}
	return b, nil
}

// decode reads the findings one by one, for the line of each.
func (b *baseline) decode(data []byte) error {
	var doc struct {
		Version  int               `json:"version"`
		Findings []json.RawMessage `json:"findings"`
	}
	if err := strictJSON(data, &doc); err != nil {
		return err
	}
	if doc.Version != 1 {
		return fmt.Errorf("version %d is not known: this program reads 1", doc.Version)
	}
	at := 0
	for _, raw := range doc.Findings {
		var e baselineEntry
		if err := strictJSON(raw, &e); err != nil {
			return err
		}
		if e.Count < 0 || e.File == "" || e.Code == "" {
			return fmt.Errorf("a finding needs a file and a code, and a count that is positive: %s", raw)
		}
		at += max(bytes.Index(data[at:], raw), 0)
		e.line = 1 + bytes.Count(data[:at], []byte{'\n'})
		at += len(raw)
		b.entries = append(b.entries, e)
	}
	return nil
}

func strictJSON(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	return nil
}

var indices = regexp.MustCompile(`\[[0-9]+\]`)

// findingOf is what the baseline in a directory knows of a problem.
func (c *filesCheck) findingOf(p permission.Problem, dir string) finding {
	message := p.Message
	for _, root := range c.rootNames() {
		message = strings.ReplaceAll(message, "'"+pathresolver.EscapePath(root)+"'", "'.'")
	}
	return finding{File: pathresolver.EscapePath(relativeTo(dir, p.File)), Code: p.Code, Path: indices.ReplaceAllString(p.Path, "[]"), Message: message}
}

func (c *filesCheck) rootNames() []string {
	names := []string{c.absRoot}
	if real, err := realPath(c.root); err == nil && real != c.absRoot {
		names = append(names, real)
	}
	return names
}

// relativeTo is a file's name from a directory on, with slashes.
func relativeTo(dir, file string) string {
	absDir, err := filepath.Abs(dir)
	if err != nil {
		return file
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(absDir, abs); err == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(abs)
}

// leaveOut takes away what the baseline knows, each entry as often as it says,
// and adds a note for each that no longer occurs. An entry of a file that was
// not checked says nothing, unless the file is gone.
func (c *filesCheck) leaveOut(b *baseline) ([]permission.Problem, *baselineUse) {
	dir := filepath.Dir(b.file)
	left := map[finding]int{}
	for _, e := range b.entries {
		left[e.finding] += max(e.Count, 1)
	}
	use := &baselineUse{File: pathresolver.EscapePath(display(b.file))}
	var found []permission.Problem
	for _, p := range c.found {
		if f := c.findingOf(p, dir); p.File != c.project && left[f] > 0 {
			left[f]--
			use.LeftOut++
			continue
		}
		found = append(found, p)
	}
	decided := c.decided(dir)
	for _, e := range b.entries {
		if left[e.finding] == 0 || !decided(e.File) {
			continue
		}
		left[e.finding] = 0
		use.Stale++
		found = append(found, permission.Problem{Position: permission.Position{File: display(b.file), Line: e.line, Column: 1}, Severity: permission.Note, Code: "stale_baseline",
			Message: fmt.Sprintf("%s no longer occurs in %s: %s", e.Code, e.File, e.Message), Hint: "write the baseline anew with --write-baseline"})
	}
	return found, use
}

// decided returns a function that reports whether this check says all about a
// file of a baseline in dir: it was checked, or is gone.
func (c *filesCheck) decided(dir string) func(file string) bool {
	checked := make(map[string]bool, len(c.files))
	for file := range c.files {
		checked[pathresolver.EscapePath(relativeTo(dir, file))] = true
	}
	return func(file string) bool {
		if checked[file] {
			return true
		}
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(file)))
		return errors.Is(err, os.ErrNotExist)
	}
}

// writeBaseline writes what was found, and keeps what is known of files that
// were not checked.
func (c *filesCheck) writeBaseline(file string) error {
	dir := filepath.Dir(file)
	counts := map[finding]int{}
	for _, p := range c.found {
		counts[c.findingOf(p, dir)]++
	}
	known, err := readBaseline(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return usageError(err, "remove it to begin anew")
	}
	if known != nil {
		decided := c.decided(dir)
		for _, e := range known.entries {
			if !decided(e.File) {
				counts[e.finding] += max(e.Count, 1)
			}
		}
	}
	if err := replaceFile(file, encodeBaseline(counts)); err != nil {
		return fmt.Errorf("'%s' cannot be written: %w", file, err)
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	c.out.stdout.printf("%s: %s\n", pathresolver.EscapePath(display(file)), plural(total, "finding"))
	return nil
}

// encodeBaseline is the file, one finding a line.
func encodeBaseline(counts map[finding]int) []byte {
	var out bytes.Buffer
	out.WriteString("{\n  \"version\": 1,\n  \"findings\": [")
	list := make([]finding, 0, len(counts))
	for f := range counts {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	for i, f := range list {
		e := baselineEntry{finding: f}
		if n := counts[f]; n > 1 {
			e.Count = n
		}
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(e) // strings and a number always encode
		out.WriteString([]string{"\n    ", ",\n    "}[min(i, 1)])
		out.Write(bytes.TrimSpace(line.Bytes()))
	}
	if len(list) > 0 {
		out.WriteString("\n  ")
	}
	out.WriteString("]\n}\n")
	return out.Bytes()
}
