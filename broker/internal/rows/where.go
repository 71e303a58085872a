package rows

import (
	"strconv"
	"strings"
)

// where builds a condition and what follows it, numbering the arguments.
type where struct {
	sql  strings.Builder
	args []any
}

// and adds a condition in which each ? is the next of args.
func (w *where) and(cond string, args ...any) {
	if w.sql.Len() == 0 {
		w.sql.WriteString(" WHERE ")
	} else {
		w.sql.WriteString(" AND ")
	}
	w.add(cond, args...)
}

// add adds text in which each ? is the next of args.
func (w *where) add(text string, args ...any) {
	for i, part := range strings.Split(text, "?") {
		if i > 0 {
			w.args = append(w.args, args[i-1])
			w.sql.WriteString("$" + strconv.Itoa(len(w.args)))
		}
		w.sql.WriteString(part)
	}
}

// equal adds a condition unless value is "".
func (w *where) equal(column, value string) {
	if value != "" {
		w.and(column+" = ?", value)
	}
}

// greater adds a condition unless value is "".
func (w *where) greater(column, value string) {
	if value != "" {
		w.and(column+" > ?", value)
	}
}

// limit adds a limit unless it is 0.
func (w *where) limit(n int) {
	if n > 0 {
		w.add(" LIMIT ?", int64(n))
	}
}

// in adds the condition that column is one of values, if there are any.
func in[S ~string](w *where, column string, values []S) {
	if len(values) == 0 {
		return
	}
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = string(v)
	}
	w.and(column+" IN (?"+strings.Repeat(", ?", len(values)-1)+")", args...)
}

// places is "$1, $2, ..." for n arguments.
func places(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(i+1))
	}
	return b.String()
}

// chunk is how many ids one statement names. Every list is cut and filled up to
// that, so that a database sees few different statements.
const chunk = 64

// chunks cuts ids, which must be distinct, into lists of 1 or of chunk, the
// last filled up with its own last.
func chunks(ids []string, do func(ids []string) error) error {
	for len(ids) > 0 {
		part := ids[:min(chunk, len(ids))]
		ids = ids[len(part):]
		if n := len(part); n > 1 && n < chunk {
			part = append(make([]string, 0, chunk), part...)
			for len(part) < chunk {
				part = append(part, part[n-1])
			}
		}
		if err := do(part); err != nil {
			return err
		}
	}
	return nil
}
