package sandboxfs

import (
	"io/fs"

	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// resolver is what a view asks of a pathresolver.Resolver: its exported methods, and
// those that are kept for holders of places (package resolved). What each promises
// stands at the method of the same name in pathresolver.
type resolver interface {
	Root() string
	WritePaths() []string

	Decide(op pathresolver.Op, place string, kind fs.FileMode) *pathresolver.DeniedError
	DecideGranted(g pathresolver.Grant, op pathresolver.Op, place string, kind fs.FileMode) *pathresolver.DeniedError
	DecideRenameGranted(g pathresolver.Grant, from, to string, exchange bool) *pathresolver.DeniedError
	DecideLinkGranted(g pathresolver.Grant, from, to string) *pathresolver.DeniedError
	DecideLook(place string) *pathresolver.DeniedError
	Verdict(place string) pathresolver.Verdict
	VerdictIn(parent, name string) pathresolver.Verdict
	AskPlaces() []resolved.AskPlace
	AsksRead() bool

	OpenPlace(place string, flags int, mode uint32) (int, error)
	BreakLinks(place string) error
	CheckLinks(place string, f resolved.FileID) (breakIt bool, denied *pathresolver.DeniedError)
	NoteLink(before resolved.FileID)
	NoteUnlink(before resolved.FileID)
	NoteMade(place string, kind fs.FileMode, f resolved.FileID)

	DecideArrival(from, to string, a resolved.Arrival) *pathresolver.DeniedError
	MoveChecked(dir int, name string, toDir int, toName, to string, noReplace bool) error
	SameGitConfig(dir int, name, from string, toDir int, toName, to string) bool
	GitContent(place string) resolved.GitContent
	CheckGitText(place string, data []byte) *pathresolver.DeniedError
	GitHook(place string) bool
	GitLock(place string) bool
	GitConfigLock(place string) bool
	CheckGitLock(place string, f resolved.FileID) *pathresolver.DeniedError
	IsGitLockName(name string) bool
	GitTriesLink(place, target string) bool
}
