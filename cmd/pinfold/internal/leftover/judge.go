package leftover

import (
	"io/fs"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/trusted"
)

// note is what may be at a place. Whether it is so in the end Examine says.
type note uint8

const (
	isLink       note = 1 << iota
	isSpecial         // FIFO or socket
	isExecutable      // regular file
	isLater           // its name is one of trusted.RunsLater
	isByItself        // its name is one of trusted.Files
	isRepository      // a git directory, or a file .git
	isOperation       // what git keeps of an unfinished operation
	isMoved           // a directory that was moved, or of which that is not known
)

// isPackageDir says whether a directory of this name holds installed packages:
// those of npm and its like, bower, and pip in a virtual environment. What lies
// in them is code that runs with the next build or test, and is seen in no diff;
// it is told as one.
func isPackageDir(name string) bool {
	switch name {
	case "node_modules", "bower_components", ".venv", "venv", "site-packages":
		return true
	}
	return false
}

func isDotGit(name string) bool { return len(name) == 4 && strings.EqualFold(name, ".git") }

// operations are the names in a git directory that say that something was begun,
// and what (git's wt-status.c looks at the same ones).
var operations = map[string]string{
	"rebase-merge": "a rebase", "rebase-apply": "a rebase or am", "sequencer": "a cherry-pick or revert of several commits",
	"MERGE_HEAD": "a merge", "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert", "BISECT_LOG": "a bisection",
}

// judge says what a change may have left, and at which place that is to be noted.
func (r *Record) judge(op access.Op, place string, mode fs.FileMode) (notes note, at string) {
	if rest, dir, found := cutName(place, isDotGit); found {
		return judgeGit(op, place, dir, rest, mode)
	}
	dir, name := "", place
	if i := strings.LastIndexByte(place, '/'); i >= 0 {
		dir, name = place[:i], place[i+1:]
	}
	switch mode.Type() {
	case fs.ModeSymlink:
		return isLink | r.named(place), place
	case fs.ModeNamedPipe, fs.ModeSocket:
		return isSpecial, place
	case fs.ModeDir:
		if name == "objects" && op != access.OpMeta { // a git directory of another name
			if dir == "" {
				dir = "."
			}
			return isRepository, dir
		}
		if op == access.OpRename {
			return isMoved | r.named(place), place
		}
		if operations[name] != "" {
			return isOperation, place
		}
		return 0, place
	case fs.ModeIrregular:
		return isMoved | r.named(place), place
	}
	if _, packages, found := cutName(place, isPackageDir); found {
		return isLater, packages
	}
	if op != access.OpMeta {
		notes = r.named(place)
	}
	if operations[name] != "" {
		notes |= isOperation
	}
	if mode&0o111 != 0 {
		notes |= isExecutable
	}
	return notes, place
}

// judgeGit is judge for what is .git, at dir, or lies beneath it.
func judgeGit(op access.Op, place, dir, rest string, mode fs.FileMode) (note, string) {
	first, below, _ := strings.Cut(rest, "/")
	switch {
	case rest == "":
		return isRepository, place
	case mode.Type() == fs.ModeSymlink:
		return isLink, place
	case mode.Type() == fs.ModeNamedPipe, mode.Type() == fs.ModeSocket:
		return isSpecial, place
	case first == "hooks" && below != "" && mode.IsRegular(), rest == "config", rest == "config.worktree", rest == "info/attributes":
		return isRepository, dir
	case mode.IsDir() && op != access.OpMeta && rest == "objects":
		return isRepository, dir
	case operations[baseOf(rest)] != "":
		return isOperation, place
	}
	return 0, place
}

// named says what the name of a place means to programs.
func (r *Record) named(place string) (notes note) {
	if r.trusted.Covers(place) != nil {
		notes |= isByItself
	}
	if _, found := trusted.RunsLaterAt(place); found {
		notes |= isLater
	}
	return notes
}

// cutName looks for the first name of a place that match knows. dir is the place
// up to it, and rest what lies beneath.
func cutName(place string, match func(name string) bool) (rest, dir string, found bool) {
	for at := 0; at <= len(place); {
		end := strings.IndexByte(place[at:], '/')
		if end < 0 {
			end = len(place)
		} else {
			end += at
		}
		if match(place[at:end]) {
			return strings.TrimPrefix(place[end:], "/"), place[:end], true
		}
		at = end + 1
	}
	return "", "", false
}

func baseOf(place string) string { return place[strings.LastIndexByte(place, '/')+1:] }
