package fileskills

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"github.com/pinfold-dev/pinfold/access"
)

// spec is one skill as its file declares it. In is a struct whose fields are
// the arguments:
//
//	type readFileIn struct {
//		Path   readPath `json:"path" jsonschema:"file to read"`
//		Offset int      `json:"offset,omitzero" default:"1" min:"1" jsonschema:"first line"`
//	}
//
// The json tag names the argument; one without omitzero is required. The
// jsonschema tag is what the model reads. Absent, null and "" are the same for
// an optional argument: it gets the default tag's value, or stays zero. min,
// max (of whole numbers, both inclusive) and enum (words, split by ",") are
// checked by the decoder; default and enum stand in the schema. A field that holds a path
// has one of the path types. Allowed kinds are string, bool, int, int64,
// *bool and *int, slices and structs of them.
type spec[In any] struct {
	name        string
	description string // for the model; first sentence says what it does
	destructive bool   // may change or remove what exists
	idempotent  bool   // a second call with the same input changes nothing more
	off         bool   // offered only where Config.Enable names it
	meta        string // the fields of Meta that it fills, by their JSON names; "": all
	act         func(ctx context.Context, c *call, in *In) (*Result, error)
}

// skill is a spec with its type taken away.
type skill struct {
	name, description, meta      string
	destructive, idempotent, off bool

	typ reflect.Type
	new func() any // *In
	act func(ctx context.Context, c *call, in any) (*Result, error)

	shape  func() *shape          // of In, made once
	schema func() json.RawMessage // of In, made once
}

// define makes a skill of a spec.
func define[In any](s spec[In]) *skill {
	k := &skill{
		name: s.name, description: s.description, meta: s.meta,
		destructive: s.destructive, idempotent: s.idempotent, off: s.off,
		typ: reflect.TypeFor[In](),
		new: func() any { return new(In) },
		act: func(ctx context.Context, c *call, in any) (*Result, error) { return s.act(ctx, c, in.(*In)) },
	}
	k.shape = sync.OnceValue(func() *shape { return shapeOf(k.typ) })
	k.schema = sync.OnceValue(func() json.RawMessage { return mustJSON(inputSchema(k.typ)) })
	return k
}

// actions are all that the path arguments stand for: sorted, each once.
func (k *skill) actions() []access.Action {
	all := k.shape().actions(nil)
	slices.Sort(all)
	return slices.Compact(all)
}

// writes reports whether the skill needs a write path.
func (k *skill) writes() bool { return writes(k.actions()) }

func writes(actions []access.Action) bool {
	return slices.ContainsFunc(actions, func(a access.Action) bool { return a.Kind() != access.KindRead })
}
