package pathresolver

import (
	"io/fs"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// The methods behind the door, for tests.

func (r *Resolver) DecideGranted(g Grant, op access.Op, place string, kind fs.FileMode) *DeniedError {
	return inside{r}.DecideGranted(g, op, place, kind)
}

func (r *Resolver) DecideRenameGranted(g Grant, from, to string, exchange bool) *DeniedError {
	return inside{r}.DecideRenameGranted(g, from, to, exchange)
}

func (r *Resolver) DecideLinkGranted(g Grant, from, to string) *DeniedError {
	return inside{r}.DecideLinkGranted(g, from, to)
}

func (r *Resolver) AskPlaces() []resolved.AskPlace { return inside{r}.AskPlaces() }

func (r *Resolver) OpenFD(unsafePath string, flag int, perm fs.FileMode) (handle, error) {
	return inside{r}.OpenFD(unsafePath, flag, perm)
}

func (r *Resolver) OpenPlace(place string, flags int, mode uint32) (handle, error) {
	return inside{r}.OpenPlace(place, flags, mode)
}

func (r *Resolver) DecideRename(from, to string, exchange bool) *DeniedError {
	return inside{r}.DecideRenameGranted(nil, from, to, exchange)
}

func (r *Resolver) DecideLink(from, to string) *DeniedError {
	return inside{r}.DecideLinkGranted(nil, from, to)
}

func (r *Resolver) CheckGitText(place string, data []byte) *DeniedError {
	return r.checkGitText(place, data)
}

func (r *Resolver) VerdictIn(parent, name string) resolved.Verdict { return r.verdictIn(parent, name) }

func (r *Resolver) Decide(op access.Op, place string, kind fs.FileMode) *DeniedError {
	return r.denies(op, place, kind)
}

func (r *Resolver) Verdict(place string) resolved.Verdict { return r.verdictAt(place) }

func (r *Resolver) Explain(op access.Op, unsafePath string) resolved.Decision {
	return inside{r}.Explain(op, unsafePath)
}

func (r *Resolver) Granted(g Grant) *Resolver { return inside{r}.Granted(g) }

func (r *Resolver) Bound() *Resolver { return inside{r}.Bound() }

func (r *Resolver) NamedByGit(place string) string { return inside{r}.NamedByGit(place) }

func (r *Resolver) Origins() resolved.Origins { return inside{r}.Origins() }
