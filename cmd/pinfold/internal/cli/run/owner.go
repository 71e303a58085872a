package run

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// hintOwner tells root of a project that belongs to somebody else.
func hintOwner(o *cli.Output, r *pathresolver.Resolver) {
	uid, known := hostpath.Owner(r.Root())
	if !known || uid == 0 {
		return
	}
	name, known := hostpath.UserName(uid)
	dir, refused := hostpath.ModeRefuses(access.OpCreate, filepath.Join(r.Root(), "x"))
	switch {
	case refused && len(r.WritePaths()) > 0 && known:
		o.Hint(fmt.Sprintf("the project is %s's with mode %04o, and root inside has no right to what belongs to others: it makes nothing there; --user %[1]s runs it as %[1]s", name, dir.Mode.Perm()))
	case refused && len(r.WritePaths()) > 0:
		o.Hint(fmt.Sprintf("the project is of user %s with mode %04o, and root inside has no right to what belongs to others: it makes nothing there; --user needs a user of that number, or chown it", name, dir.Mode.Perm()))
	case known:
		o.Hint(fmt.Sprintf("the project is %s's, and what the command makes in it will be root's; --user %[1]s runs it as %[1]s", name))
	}
}

// ofOthers returns what says at the end of a run what to do where root inside lacked a
// right that it has outside. It is called before the run: afterwards this process can no
// longer ask for a user's name.
func ofOthers(r *pathresolver.Resolver) func(kinds []refusalKind) (advice []string) {
	root := r.Root()
	owner, _ := hostpath.Owner(root)
	name := ""
	if os.Geteuid() == 0 && owner != 0 { // or there will be nothing to say
		name, _ = hostpath.UserName(owner)
	}
	return func(kinds []refusalKind) (advice []string) {
		has := func(rule access.Code) int {
			return slices.IndexFunc(kinds, func(k refusalKind) bool { return k.rule == rule })
		}
		if i := has(sandboxfs.RuleNotOwner); i >= 0 {
			place := kinds[i].place
			uid, known := hostpath.Owner(filepath.Join(root, place))
			for (!known || uid == 0) && place != "." { // it is the directory, then
				place = path.Dir(place)
				uid, known = hostpath.Owner(filepath.Join(root, place))
			}
			as := fmt.Sprintf("user %d's; --user %[1]d runs it as that one", uid)
			if uid == owner {
				as = fmt.Sprintf("%s's; --user %[1]s runs it as %[1]s", name)
			}
			if known && uid != 0 {
				advice = append(advice, fmt.Sprintf("root inside has no right to what belongs to others, and '%s' is %s", pathresolver.EscapePath(place), as))
			}
		}
		if has(sandboxfs.RuleChown) >= 0 {
			advice = append(advice, "a run gives no file to another user, and what it makes is its own user's: tar --no-same-owner, cp -r and rsync -rlpt do not try")
		}
		return advice
	}
}
