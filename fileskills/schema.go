package fileskills

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// inputSchema is the JSON Schema of an input struct: what the library infers,
// and the tags of the shape.
func inputSchema(t reflect.Type) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{})
	if err != nil {
		panic("fileskills: bug: " + err.Error())
	}
	refine(s, shapeOf(t))
	return s
}

// refine adds what the shape knows. null is taken for an optional argument, but
// not advertised; bounds of numbers are left to the decoder, since every word
// here is paid for in each conversation.
func refine(s *jsonschema.Schema, sh *shape) {
	for _, f := range sh.fields {
		p := s.Properties[f.name]
		refineValue(p, &f.value)
		if f.def.IsValid() {
			p.Default = mustJSON(f.def.Interface())
		}
	}
}

func refineValue(p *jsonschema.Schema, v *valueShape) {
	for _, t := range p.Types {
		if t != "null" {
			p.Type, p.Types = t, nil
			break
		}
	}
	for _, w := range v.enum {
		p.Enum = append(p.Enum, w)
	}
	switch {
	case v.typ.Kind() == reflect.Slice:
		refineValue(p.Items, v.elem)
	case v.sub != nil:
		refine(p, v.sub)
	}
}

// outputSchema is that of the fields of Meta that are named, separated by
// spaces; of all where none is.
func outputSchema(names string) json.RawMessage {
	s, err := jsonschema.For[Meta](nil)
	if err != nil {
		panic("fileskills: bug: " + err.Error())
	}
	s.AdditionalProperties = nil
	keep := strings.Fields(names)
	for name, p := range s.Properties {
		if len(p.Types) == 2 { // a pointer: absent, never null
			p.Type, p.Types = p.Types[1], nil
		}
		if len(keep) > 0 && !slices.Contains(keep, name) {
			delete(s.Properties, name)
		}
	}
	s.PropertyOrder = nil
	return mustJSON(s)
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("fileskills: bug: " + err.Error())
	}
	return b
}
