package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
)

// maxBaseline is how many bytes are read as a baseline.
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

func readBaseline(root, file string) (*baseline, error) {
	data, err := hostfile.ReadWithin(root, file, maxBaseline)
	if err != nil {
		return nil, fmt.Errorf("baseline %w", hostfile.Named(file, err))
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
