package integration

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/integration/ops"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// skillsSurface is the file skills as a Go package.
type skillsSurface struct{ uid int }

func (skillsSurface) Name() string { return "skills" }
func (s skillsSurface) UID() int   { return s.uid }
func (skillsSurface) InView() bool { return false }

func (skillsSurface) Start(t *testing.T, s *site, policy []string, mode string) (ops.Executor, error) {
	r, err := resolver(t, s, policy, mode)
	if err != nil {
		return nil, err
	}
	does, err := newSkillOps(r)
	require.NoError(t, err)
	return does, nil
}

// newSkillOps does operations by the skills over a resolver.
func newSkillOps(r *pathresolver.Resolver) (skillOps, error) {
	set, err := fileskills.New(fileskills.Config{Resolver: r, Enable: []string{"delete_file"}})
	return skillOps{call: func(name string, args map[string]any) (string, error) {
		input, err := json.Marshal(args)
		if err != nil {
			return "", err
		}
		res, err := set.Call(context.Background(), name, input)
		if err != nil {
			return "", err
		}
		return res.Text, nil
	}}, err
}

func (skillsSurface) Unguarded(_ *testing.T, s *site) ops.Executor { return ops.Native{Root: s.root} }

// skillOps does operations by the file skills, however they are called. The
// error of call is a *fileskills.Error.
type skillOps struct {
	call func(name string, args map[string]any) (text string, err error)
}

func (s skillOps) Do(op ops.Op) ops.Result {
	p, q := op.Arg(0), op.Arg(1)
	switch op.Verb {
	case "read":
		return s.do(strings.Clone, "read_file", "path", p, "line_numbers", false)
	case "list":
		return s.do(listedNames, "list_directory", "path", p, "all", true)
	case "stat":
		return s.do(kindOf, "file_info", "path", p)
	case "write":
		return s.do(nothing, "write_file", "path", p, "content", q)
	case "create":
		return s.do(nothing, "write_file", "path", p, "content", q, "overwrite", false)
	case "edit":
		return s.do(nothing, "regex_replace", "path", p, "pattern", `(?s)\A.*\z`, "replacement", strings.ReplaceAll(q, `\`, `\\`))
	case "append":
		return s.do(nothing, "append_file", "path", p, "content", q, "newline", false)
	case "mkdirall":
		return s.do(nothing, "mkdir", "path", p)
	case "remove":
		return s.do(nothing, "delete_file", "path", p)
	case "rename":
		return s.do(nothing, "rename", "source", p, "destination", q, "overwrite", true)
	}
	return ops.Failed(nil, ops.ErrUnsupported)
}

func (s skillOps) do(data func(text string) string, name string, pairs ...any) ops.Result {
	args := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		args[pairs[i].(string)] = pairs[i+1]
	}
	text, err := s.call(name, args)
	if err == nil {
		return ops.Result{Data: []byte(data(text))}
	}
	return skillFailed(err)
}

// skillErrnos are what the codes of the skills stand for where no rule refused.
var skillErrnos = map[fileskills.Code]string{
	fileskills.CodeNotFound: "ENOENT", fileskills.CodeAlreadyExists: "EEXIST",
	fileskills.CodeIsDirectory: "EISDIR", fileskills.CodeNotDirectory: "ENOTDIR",
	fileskills.CodeInvalidArgument: "EINVAL", fileskills.CodePermissionDenied: "EACCES",
	fileskills.CodeCrossDevice: "EXDEV",
}

// skillFailed wants every failure to be a *fileskills.Error, and its rule to
// be one where a path was refused (W13).
func skillFailed(err error) ops.Result {
	var e *fileskills.Error
	if !errors.As(err, &e) {
		return ops.Result{Text: "not a *fileskills.Error: " + err.Error()}
	}
	res := ops.Result{Text: e.Error(), Errno: skillErrnos[e.Code]}
	switch { // these two share a code, but not the words
	case strings.Contains(e.Message, "too long"):
		res.Errno = "ENAMETOOLONG"
	case strings.Contains(e.Message, "too many symbolic links"):
		res.Errno = "ELOOP"
	}
	if rule, ok := e.Data["rule"].(string); ok {
		res.Rule = rule
		if !strings.HasPrefix(e.Message, "Path '") || !strings.Contains(e.Message, "' is outside the allowed sandbox") {
			res.Rule, res.Text = "", "not the text of W13: "+e.Message
		}
	}
	return res
}

func nothing(string) string { return "" }

// listedNames are the names of list_directory, sorted, one space between them.
func listedNames(text string) string {
	var names []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " -> ")
		line, _, _ = strings.Cut(line, " (")
		names = append(names, strings.TrimSuffix(line, "/"))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

var kindLine = regexp.MustCompile(`(?m)^kind: (.+)$`)

// kindOf is the word of ops.Kind for what file_info says.
func kindOf(text string) string {
	m := kindLine.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	if word, ok := map[string]string{"directory": "dir", "FIFO": "fifo", "socket": "sock"}[m[1]]; ok {
		return word
	}
	return m[1]
}
