package permission

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// examination is everything that can be said about a document, and about what
// it extends, without looking at the project.
type examination struct {
	policies.Examination

	// problems are all that is wrong, in the order of the document. The document is
	// accepted if none of them is an Error.
	problems []Problem
}

// Examine finds everything that is wrong with the policy or agent definition at name
// in fsys, and with what it extends, at once: errors of its shape and of its meaning,
// and what lint says. What more finds is put among it, in the document's order, one
// after the other; each is given what was found before. The error is that of reading
// the file. FS and Open of the options do not count.
func (o insideOptions) Examine(fsys fs.FS, name string, kind policies.Kind, more ...func(x *policies.Examination, found []Problem) []Problem) ([]Problem, error) {
	examine := examine
	if kind == policies.AgentFile {
		examine = examineAgent
	}
	x, err := examine(fsys, name, Options(o))
	if err != nil {
		return nil, err
	}
	for _, find := range more {
		x.add(find(&x.Examination, x.problems)...)
	}
	return x.problems, nil
}

// examine is Examine for a policy.
func examine(fsys fs.FS, name string, opt Options) (*examination, error) {
	data, err := readAll(fsys, name, maxDocument)
	if err != nil {
		return nil, err
	}
	x := &examination{}
	opt.FS, opt.Open, opt.found = fsys, true, &x.problems
	src, err := decodePartly(path.Clean(name), data)
	opt.tolerates(err)
	x.Name, x.NameAt = src.Document.Name, src.position("name")
	if len(src.at) == 0 {
		return x, nil // there is nothing in it
	}
	policy, err := Compile(src, opt)
	var found []Problem
	if policy != nil {
		found = policy.lint()
	}
	x.finish(policy, found, err, opt)
	return x, nil
}

// examineAgent is Examine for an agent definition.
func examineAgent(fsys fs.FS, name string, opt Options) (*examination, error) {
	data, err := readAll(fsys, name, maxAgent)
	if err != nil {
		return nil, err
	}
	x := &examination{}
	opt.FS, opt.found = fsys, &x.problems
	agent, err := parseAgent(path.Clean(name), data)
	opt.tolerates(err)
	x.Name, x.NameAt = agent.name, agent.position("name")
	if len(agent.at) == 0 {
		return x, nil
	}
	policy, found, err := agent.Policy(opt)
	if policy == nil {
		_, outside := agent.writeLayer().rooted(opt.Root)
		opt.tolerates(outside)
	}
	x.finish(policy, found, err, opt)
	return x, nil
}

// finish adds what a compiled policy tells.
func (x *examination) finish(p *Policy, found []Problem, err error, opt Options) {
	if err != nil && !opt.tolerates(err) {
		x.problems = append(x.problems, Problem{Severity: pathresolver.SeverityError, Code: "bad_value", Message: err.Error()})
	}
	x.problems = append(x.problems, found...)
	if p != nil {
		x.Hides = p.hiddenPaths()
		x.hold(p, opt.Root)
	}
	x.add()
}

// add adds what else was found out about the document, in its order. Where a part is
// refused, a warning about the same part is left out.
func (x *examination) add(found ...Problem) {
	x.problems = append(x.problems, found...)
	var refused []Problem
	for _, p := range x.problems {
		if p.Severity == pathresolver.SeverityError {
			refused = append(refused, p)
		}
	}
	x.problems = slices.DeleteFunc(x.problems, func(p Problem) bool {
		return p.Severity != pathresolver.SeverityError && slices.ContainsFunc(refused, func(e Problem) bool {
			return e.Position == p.Position || e.File == p.File && (within(p.Path, e.Path) || within(e.Path, p.Path))
		})
	})
	slices.SortStableFunc(x.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	x.problems = slices.Compact(x.problems)
}

func (x *examination) hold(p *Policy, root string) {
	held, err := p.Resolver(root)
	var unheld *unheldError
	switch {
	case err == nil:
		x.Config, x.Positions = held.Config, held.Positions
	case errors.As(err, &unheld) && !x.refused(): // else it may be for what could not be read
		x.problems = append(x.problems, Problem{Position: unheld.Position, Severity: pathresolver.SeverityError, Code: "not_held", Message: unheld.message, Hint: unheld.hint})
	}
}

// refused reports whether the document is refused.
func (x *examination) refused() bool {
	return slices.ContainsFunc(x.problems, func(p Problem) bool { return p.Severity == pathresolver.SeverityError })
}

// tolerates collects what is wrong with a document, where Examine wants to go
// on in spite of it.
func (o *Options) tolerates(err error) bool {
	var de *DocumentError
	if o.found == nil || !errors.As(err, &de) {
		return false
	}
	*o.found = append(*o.found, de.Problems...)
	return true
}

// withoutBase is a document whose `extends` leads nowhere, as Examine goes on
// with it: it may read the project, so that the rest can be looked at.
func (s *Source) withoutBase() *Source {
	alone := *s
	alone.Document.Extends = ""
	files := FS{}
	if s.Document.FS != nil {
		files = *s.Document.FS
	}
	if files.Read == nil {
		files.Read = []string{"."}
	}
	alone.Document.FS = &files
	return &alone
}

// readAll reads a file, and no more of it than shows that it is too long.
func readAll(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return io.ReadAll(io.LimitReader(f, limit+1))
}
