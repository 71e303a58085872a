package cases

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Naive names a mistake that tools make with a path before they use it. Some
// attacks work only against one of them.
type Naive string

// naive holds what each mistake makes of a path.
var naive = map[Naive]func(path string, vars Vars) string{
	"":        func(p string, _ Vars) string { return p },
	"clean":   func(p string, _ Vars) string { return filepath.Clean(p) },
	"percent": func(p string, _ Vars) string { return decoded(p) },
	"nul":     func(p string, _ Vars) string { p, _, _ = strings.Cut(p, "\x00"); return p },
	"tilde": func(p string, v Vars) string {
		if rest, ok := strings.CutPrefix(p, "~"); ok {
			return v["OUTSIDE"] + rest // as though $HOME were there
		}
		return p
	},
	"fileurl":  func(p string, _ Vars) string { return strings.TrimPrefix(p, "file://") },
	"realpath": realpath,
}

// Apply is what the mistake makes of path.
func (n Naive) Apply(path string, vars Vars) string { return naive[n](path, vars) }

func decoded(p string) string {
	if q, err := url.PathUnescape(p); err == nil {
		return q
	}
	return p
}

// realpath resolves links, dangling ones too, and then trusts the result, as
// `mkdir -p "$(realpath -m P)"` does.
func realpath(p string, vars Vars) string {
	at := vars["ROOT"]
	for _, c := range strings.Split(p, "/") {
		next := filepath.Join(at, c)
		if target, err := os.Readlink(next); err == nil {
			if next = target; !filepath.IsAbs(target) {
				next = filepath.Join(at, target)
			}
		}
		at = next
	}
	return at
}
