package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// hidesNothing warns of an entry of fs.hide that names one path, where nothing
// stands in the project.
func (c *filesCheck) hidesNothing(x *policies.Examination, found []permission.Problem) (more []permission.Problem) {
	for _, e := range x.Hides {
		link, missing := lookUp(c.root, e.Text)
		if !missing || told(found, e.Position) {
			continue
		}
		p := permission.Problem{Position: e.Position, Severity: pathresolver.SeverityWarning, Code: "hides_nothing", Path: e.Path,
			Message: fmt.Sprintf("'%s' hides nothing: there is no such file or directory", e.Text),
			Hint:    fmt.Sprintf("for what may come later write a glob: \"**/%s\"", filepath.Base(e.Text))}
		if link != "" {
			p.Message = fmt.Sprintf("'%s' hides nothing: '%s' is a symbolic link", e.Text, link)
			p.Hint = "name the place that the link leads to"
		}
		more = append(more, p)
	}
	return more
}

// lookUp reports whether nothing of that name is beneath root. If there is a link on
// the way, beneath which there are no places, it returns that. Letter case is ignored,
// as hide does. What cannot be looked at does not count as missing.
func lookUp(root, name string) (link string, missing bool) {
	parts := strings.Split(name, "/")
	at := root
	for i, part := range parts {
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		if errors.Is(err, os.ErrNotExist) {
			if part, err = otherCase(at, part); part == "" {
				return "", err == nil
			}
			next = filepath.Join(at, part)
			info, err = os.Lstat(next)
		}
		switch {
		case err != nil:
			return "", false
		case i < len(parts)-1 && info.Mode()&os.ModeSymlink != 0:
			return strings.Join(parts[:i+1], "/"), true
		case i < len(parts)-1 && !info.IsDir():
			return "", true
		}
		at = next
	}
	return "", false
}

// otherCase is the name in a directory that differs by letter case only, "" if
// there is none.
func otherCase(dir, name string) (string, error) {
	if strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) {
		return "", errors.New("composition is not compared here")
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.EqualFold(e.Name(), name) {
			return e.Name(), nil
		}
	}
	return "", err
}
