package fileskills

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

type applyPatchIn struct {
	Patch patchText `json:"patch" jsonschema:"*** Begin Patch … *** End Patch: Add File, Update File (Move to; hunks under @@ lines), Delete File"`
}

var applyPatch = define(spec[applyPatchIn]{
	name:        "apply_patch",
	description: "Applies a patch to several files: all or nothing. Context must match exactly and in one place only.",
	destructive: true,
	off:         true,
	act: func(ctx context.Context, c *call, in *applyPatchIn) (*Result, error) {
		files, err := parsePatch(string(in.Patch))
		if err != nil {
			return nil, err
		}
		release, err := c.set.journal.acquire(ctx, c.fs)
		if err != nil {
			return nil, c.journalError(err)
		}
		defer release()
		for try := range maxStaleTries {
			res, err := c.patch(ctx, files)
			var e *Error
			switch {
			case errors.Is(err, errMoved):
				continue
			case try > 0 && errors.As(err, &e):
				return nil, fail(CodeStaleFile, e.Path, "A file changed while the patch was applied, and now: %s", e.Message)
			}
			return res, err
		}
		return nil, fail(CodeStaleFile, "", "The files keep changing. Nothing was changed.")
	},
})

// journalError is the failure of the journal, which lies outside the root and
// is not named to a model.
func (c *call) journalError(err error) error {
	var e *Error
	if ctxErr := c.ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	if errors.As(err, &e) {
		return e
	}
	e = fail(CodeIOError, "", "The journal of patches cannot be used. Nothing was changed.").
		hint("It is kept in StateDir; who started this server has to look.")
	e.cause = err
	return e
}

// patch plans everything, then writes, then removes. Up to the point where all
// is written, a failure undoes what was done; so does the next start, if this
// process is killed.
func (c *call) patch(ctx context.Context, files []patchFile) (*Result, error) {
	plan, err := c.planPatch(ctx, files)
	if err != nil {
		return nil, err
	}
	defer plan.close()
	record, err := plan.record(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := c.set.journal.begin(ctx, record)
	if err != nil {
		return nil, c.journalError(err)
	}
	if err := plan.write(ctx, c.fs); err != nil {
		plan.close() // directories that were made, too
		tx.onlyWritten(plan)
		if undone := tx.undo(c.fs); undone != nil {
			return nil, halfDone(errors.Join(err, undone))
		}
		if ended := tx.end(); ended != nil {
			return nil, c.journalError(ended)
		}
		return nil, err
	}
	// From here on there is no way back, and no way to be cancelled.
	if err := tx.writesDone(); err != nil {
		if undone := tx.undo(c.fs); undone != nil {
			return nil, halfDone(errors.Join(err, undone))
		}
		return nil, c.journalError(errors.Join(err, tx.end()))
	}
	ctx = context.WithoutCancel(ctx)
	kept, err := tx.redo(ctx, c.fs)
	if err != nil {
		return nil, halfDone(err)
	}
	for _, place := range kept {
		plan.warnings = append(plan.warnings, "Warning: "+shown(place)+" was changed by somebody else at the last moment and is kept.")
	}
	if err := tx.end(); err != nil {
		return nil, halfDone(err)
	}
	return c.patched(plan), nil
}

// onlyWritten leaves in t what the plan has put in place. A file that somebody
// else was faster to make may hold just what the patch would have written.
func (t *transaction) onlyWritten(plan *patchPlan) {
	t.Writes = slices.DeleteFunc(t.Writes, func(w recordWrite) bool {
		return !slices.ContainsFunc(plan.steps, func(s *patchStep) bool { return s.written && s.place == w.Place })
	})
}

// halfDone is a patch that could be neither finished nor undone: the disk
// fails, or rights were taken away in between. The journal stays.
func halfDone(err error) error {
	e := fail(CodeIOError, "", "The patch could be neither finished nor undone; it is tried again before the next one.")
	e.cause = err
	return e
}

// patched is the result.
func (c *call) patched(plan *patchPlan) *Result {
	var text, diffs strings.Builder
	added, removed := 0, 0
	for _, s := range plan.steps {
		d, plus, minus := s.diff()
		added, removed = added+plus, removed+minus
		if diffs.Len()+len(d) <= maxDiffBytes {
			diffs.WriteString(d)
		} else if d != "" {
			fmt.Fprintf(&diffs, "[diff of %s left out: %s added, %d removed]\n", shown(s.place), count(plus, "line"), minus)
		}
		switch {
		case s.file.op == patchAdd:
			fmt.Fprintf(&text, "Added %s (%d lines)\n", shown(s.place), plus)
		case s.file.op == patchDelete:
			fmt.Fprintf(&text, "Deleted %s\n", shown(s.source))
		case s.source != "":
			fmt.Fprintf(&text, "Moved %s to %s (%s added, %d removed)\n", shown(s.source), shown(s.place), count(plus, "line"), minus)
		default:
			fmt.Fprintf(&text, "Updated %s (%s added, %d removed)\n", shown(s.place), count(plus, "line"), minus)
		}
		if s.source != "" {
			c.noteMoved(s.source, s.place)
		}
		switch s.file.op {
		case patchAdd:
			c.noteRead(s.place, s.hash)
		case patchUpdate:
			c.noteEdit(s.place, s.was, s.hash)
		}
	}
	for _, w := range plan.warnings {
		text.WriteString(w + "\n")
	}
	return &Result{
		Text: strings.TrimSuffix(text.String(), "\n"),
		Meta: Meta{Added: &added, Removed: &removed, Diff: diffs.String()},
	}
}
