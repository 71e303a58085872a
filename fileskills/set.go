package fileskills

import (
	"context"
	"encoding/json"
)

// Config says what a Set offers. The zero value, but for FS, is the safest.
type Config struct {
	// FS is where files are: Resolved(r) in production. Never nil.
	FS FS
	// Gate narrows further. nil: the rules of FS alone.
	Gate Gate
	// Enable names skills that are off otherwise: delete_file, apply_patch.
	// An unknown name is an error of New.
	Enable []string
	// Guard is what write_file and the edits want before they change a file.
	Guard Guard
	// StateDir is a directory outside the root where apply_patch keeps its
	// journal. It must be set for apply_patch.
	StateDir string
}

// Guard is whether a file must have been read by this Set before it is
// changed. What was read is known by content hash, never by time alone.
type Guard uint8

// The guards.
const (
	GuardOff     Guard = iota // no demand; content is still compared at commit
	GuardWarn                 // say so in the result
	GuardRequire              // stale_file
)

// Set is the skills over one FS. It is safe for use by many goroutines.
type Set struct {
	// filled by New
}

// Skill is one tool, in the shape that agent SDKs use.
type Skill struct {
	Name         string
	Description  string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Uses         []Action // every action of its path arguments, sorted, without duplicates
	Destructive  bool     // may change or remove what exists
	Idempotent   bool     // a second call with the same input changes nothing more
	Execute      func(ctx context.Context, input json.RawMessage) (*Result, error)
}

// Writes reports whether any use of the skill needs a write path.
func (s Skill) Writes() bool {
	for _, a := range s.Uses {
		if a.Access()&AccessWrite != 0 {
			return true
		}
	}
	return false
}
