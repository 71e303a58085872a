package fileskills

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// maxStaleTries is how often an edit is made anew because the file changed
// between reading and commit.
const maxStaleTries = 40

// textChange is what a skill wants done with the text of one file.
type textChange struct {
	path         editPath
	expectedHash string // of the content that the caller has in mind; "" is any
	dryRun       bool
	// plan says what to change. It may be asked more than once, as often as the
	// file turns out to have changed meanwhile.
	plan func(*text) ([]edit, error)
	note string // for the result
}

// changeText changes a file's text: read, plan, compare, replace. A file that
// somebody else changes in between is read again, and the plan made for what it
// is then, where that is possible without doubt; never is their change lost.
func (c *call) changeText(ctx context.Context, ch textChange) (*Result, error) {
	var first string // hash of the content that was met first
	for range maxStaleTries {
		res, err := c.tryChange(ctx, ch, &first)
		var e *Error
		switch {
		case errors.Is(err, errMoved):
			continue
		case errors.As(err, &e) && e.Path == "":
			e.Path = string(ch.path)
		}
		return res, err
	}
	return nil, fail(CodeStaleFile, string(ch.path), "%s keeps changing. Nothing was written.", shown(string(ch.path))).
		hint("Somebody else writes it all the time. Try again later.")
}

// errMoved is the error of a try that came too late: the file is not what it
// was when it was read. Nothing was changed.
var errMoved = errors.New("the file has changed")

func (c *call) tryChange(ctx context.Context, ch textChange, first *string) (*Result, error) {
	rep, unlock, err := c.replace(ctx, string(ch.path), ReplaceOptions{MustExist: true})
	if err != nil {
		return nil, err
	}
	defer unlock()
	defer rep.Close()
	name := shown(string(ch.path))
	raw, err := readWhole(ctx, rep.Old(), name)
	if err != nil {
		return nil, err
	}
	hash, err := hashSoon(ctx, raw)
	if err != nil {
		return nil, err
	}
	if *first == "" {
		*first = hash
	}
	if ch.expectedHash != "" && ch.expectedHash != hash {
		return nil, stale(string(ch.path), ch.expectedHash, hash)
	}
	var warning string
	if c.set.guard != GuardChanged {
		if warning, err = c.checkSeen(rep.Place(), hash); err != nil {
			return nil, err
		}
	}
	t, err := readText(ctx, name, raw)
	if err != nil {
		return nil, err
	}
	edits, err := ch.plan(t)
	if err != nil {
		var e *Error
		if hash != *first && errors.As(err, &e) {
			return nil, stale(string(ch.path), *first, hash).hint("It was changed while it was edited, and now: %s", e.Message)
		}
		return nil, err
	}
	out, err := t.apply(ctx, edits)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(out, raw) {
		return nil, fail(CodeNoChange, "", "%s already is as the change would leave it. Nothing was changed.", name)
	}
	newHash, err := hashSoon(ctx, out)
	if err != nil {
		return nil, err
	}
	if !ch.dryRun {
		if err := writeWhole(ctx, rep, out); err != nil {
			return nil, err
		}
		if err := commit(ctx, rep, raw); err != nil {
			return nil, err
		}
		c.noteEdit(rep.Place(), hash, newHash)
	}
	diff, added, removed := diffEdits(rep.Place(), t.lf, edits)
	size, n := int64(len(out)), len(edits)
	res := &Result{Meta: Meta{
		Path: rep.Place(), Bytes: &size, Hash: newHash, Replacements: &n,
		Added: &added, Removed: &removed, Diff: diff, DryRun: ch.dryRun,
	}}
	res.Text = changedText(res.Meta, ch.note, warning)
	return res, nil
}

// changedText is what a model reads of a change.
func changedText(m Meta, notes ...string) string {
	verb := "Edited"
	if m.DryRun {
		verb = "Would edit"
	}
	places := "replacement"
	if *m.Replacements != 1 {
		places += "s"
	}
	text := fmt.Sprintf("%s %s: %d %s, %s added, %d removed.", verb, shown(m.Path), *m.Replacements, places, count(*m.Added, "line"), *m.Removed)
	if m.DryRun {
		text += " Nothing was written."
	}
	for _, note := range notes {
		if note != "" {
			text += "\n" + note
		}
	}
	return text
}

// commit puts new content in place if the file still is what raw says, and
// fails with errMoved if not.
func commit(ctx context.Context, rep Replacement, raw []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	moved := false
	err := rep.Commit(ctx, func(now File) error {
		same, err := sameContent(ctx, now, raw)
		if err == nil && !same {
			moved, err = true, errMoved
		}
		return err
	})
	if moved {
		return errMoved
	}
	return err
}

// sameContent reports whether a file, nil for none, holds exactly raw.
func sameContent(ctx context.Context, f File, raw []byte) (bool, error) {
	if f == nil {
		return false, nil
	}
	info, err := f.Stat()
	if err != nil || info.Size() != int64(len(raw)) {
		return false, err
	}
	buf := make([]byte, min(len(raw)+1, 256<<10))
	for at := 0; ; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := f.ReadAt(buf, int64(at))
		if n > len(raw)-at || !bytes.Equal(buf[:n], raw[at:at+n]) {
			return false, nil
		}
		at += n
		switch {
		case err == io.EOF:
			return at == len(raw), nil
		case err != nil:
			return false, err
		}
	}
}

// readWhole reads a file that is small enough to be edited.
func readWhole(ctx context.Context, f File, name string) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxEditBytes {
		return nil, fail(CodeTooLarge, "", "%s has %d bytes; at most %d are edited. Nothing was changed.", name, info.Size(), maxEditBytes)
	}
	raw := make([]byte, 0, info.Size()+1)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(raw) == cap(raw) { // it has grown
			raw = append(raw, 0)[:len(raw)]
		}
		n, err := f.ReadAt(raw[len(raw):min(cap(raw), len(raw)+stride)], int64(len(raw)))
		raw = raw[:len(raw)+n]
		switch {
		case len(raw) > maxEditBytes:
			return nil, errTooLarge(name, "has become larger")
		case err == io.EOF:
			return raw, nil
		case err != nil:
			return nil, err
		}
	}
}

// writeWhole writes all of raw.
func writeWhole(ctx context.Context, w io.Writer, raw []byte) error {
	for len(raw) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := w.Write(raw[:min(len(raw), stride)])
		if err != nil {
			return err
		}
		raw = raw[n:]
	}
	return ctx.Err()
}
