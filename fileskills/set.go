package fileskills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Config says what a Set offers. The zero value, but for Resolver or FS, is
// the safest.
type Config struct {
	// Resolver is where files are, and the rules about them. The Set does not
	// close it.
	Resolver *pathresolver.Resolver
	// FS is where files are instead: for tests. Exactly one of both is set.
	FS FS
	// NoSync leaves it to the system when changes reach the disk, instead of
	// waiting for it. That is several times faster; after a power failure a file
	// may have its old content, or on some file systems none. It does not matter
	// to a process that is killed.
	NoSync bool
	// Gate narrows further. nil: the rules of the resolver alone.
	Gate Gate
	// Timeout is how long a skill may work once it was admitted; what is not
	// done by then is not done at all, and its code is timeout. Asking the Gate
	// does not count. 0 or less: no limit. nil: none for any.
	Timeout func(skill string) time.Duration
	// Enable names skills that are off otherwise: delete_file, apply_patch.
	// An unknown name is an error of New.
	Enable []string
	// Guard is what must be known of a file before it is replaced or changed.
	Guard Guard
	// Asked says that somebody can be asked for what pathresolver.Config.AskWrite
	// refuses: skills that write are offered though no write path is there yet.
	Asked bool
	// GateGrants says that the Gate is who asks: what pathresolver.Config.AskRead
	// and AskWrite refuse is put to it, and what it allows is granted to the call, for
	// that place alone.
	GateGrants bool
	// StateDir is the absolute path of a directory outside the root, made where
	// it is missing, in which apply_patch keeps its journal. It must be set for
	// apply_patch, and the same for all processes that patch one root.
	StateDir string
}

// Set is the skills over one FS. It is safe for use by many goroutines.
//
// Locks: the in-process lock of a file (locks) is taken before the FS's own
// lock of a commit; none is held while a gate is asked.
type Set struct {
	fs      FS
	gate    Gate
	timeout func(skill string) time.Duration
	guard   Guard
	asked   bool
	grants  bool
	journal *journal // nil unless apply_patch is enabled
	enabled map[string]bool
	locks   locks
	seen    seen
}

// New makes a Set. Where apply_patch is enabled, a patch that a killed process
// left half done over the same root is rolled back first; that this fails is
// an error.
func New(c Config) (*Set, error) {
	s := &Set{fs: c.FS, gate: c.Gate, timeout: c.Timeout, guard: c.Guard, asked: c.Asked, grants: c.GateGrants && c.Gate != nil, enabled: make(map[string]bool)}
	switch {
	case c.Resolver != nil && c.FS != nil:
		return nil, errors.New("fileskills: Config has both a Resolver and an FS: set one")
	case c.Resolver != nil:
		s.fs = &resolverFS{r: c.Resolver, sync: !c.NoSync}
	case c.FS == nil:
		return nil, errors.New("fileskills: Config has no Resolver")
	}
	if c.Guard > GuardRequire {
		return nil, fmt.Errorf("fileskills: unknown guard %d", c.Guard)
	}
	for _, name := range c.Enable {
		k := byName()[name]
		if k == nil || k.name != name {
			return nil, fmt.Errorf("fileskills: cannot enable %q: no such skill", name)
		}
		if name == "apply_patch" && c.StateDir == "" {
			return nil, errors.New("fileskills: apply_patch needs a StateDir for its journal")
		}
		s.enabled[name] = true
	}
	if s.enabled[applyPatch.name] {
		if err := s.startJournal(c); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Skill is one tool, in the shape that agent SDKs use.
type Skill struct {
	Name         string
	Description  string
	InputSchema  json.RawMessage // of the arguments
	OutputSchema json.RawMessage // of Result.Meta, as far as the skill fills it
	Uses         []access.Action // what it does at the paths of its arguments, sorted, each once
	Destructive  bool            // may change or remove what exists
	Idempotent   bool            // a second call with the same input changes nothing more
	Execute      func(ctx context.Context, input json.RawMessage) (*Result, error)
}

// Writes reports whether any use of the skill needs a write path.
func (s Skill) Writes() bool { return writes(s.Uses) }

// Skills are those that the policy can ever allow: without a write path, and
// nobody to ask for one, none that writes; and of those that are off otherwise only the enabled ones.
func (s *Set) Skills() []Skill {
	var list []Skill
	readOnly := len(s.fs.WritePaths()) == 0 && !s.asked
	for _, k := range all {
		if s.offers(k) != nil || k.writes() && readOnly {
			continue
		}
		described := k.describe()
		described.Execute = func(ctx context.Context, input json.RawMessage) (*Result, error) {
			return s.Call(ctx, k.name, input)
		}
		list = append(list, described)
	}
	return list
}

// describe is the skill without what executes it.
func (k *skill) describe() Skill {
	return Skill{
		Name: k.name, Description: k.description,
		InputSchema: slices.Clone(k.schema()), OutputSchema: outputSchema(k.meta),
		Uses: k.actions(), Destructive: k.destructive, Idempotent: k.idempotent,
	}
}

// offers says why a skill is not offered: nil if it is.
func (s *Set) offers(k *skill) *Error {
	if k.off && !s.enabled[k.name] {
		return fail(CodeUnknownSkill, "", "%s is not enabled here", k.name)
	}
	return nil
}
