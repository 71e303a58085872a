package permission

import (
	"encoding/json"
	"reflect"
)

// schemaID is where the published JSON Schema of documents lives.
const schemaID = "https://raw.githubusercontent.com/pinfold-dev/pinfold/main/docs/schema/policy.schema.json"

// Schema returns the JSON Schema (2020-12) of a document, made from the same
// struct tags as the decoder. It holds for YAML in an editor too:
//
//	# yaml-language-server: $schema=docs/schema/policy.schema.json
func Schema() []byte {
	return publish(schemaOf(reflect.TypeFor[Document]()), schemaID, "pinfold policy")
}

// publish completes the schema of a document with a version.
func publish(s object, id, title string) []byte {
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["$id"] = id
	s["title"] = title
	s["properties"].(object)["version"].(object)["const"] = 1
	out, _ := json.MarshalIndent(s, "", "  ") // maps of strings always encode
	return append(out, '\n')
}

type object = map[string]any

const idPattern = `^[A-Za-z0-9._@+-]+$`

func schemaOf(t reflect.Type) object {
	switch {
	case t == targetsType:
		id := object{"type": "string", "pattern": idPattern, "not": object{"enum": reservedWords}}
		return object{"oneOf": []any{object{"enum": reservedWords}, object{"type": "array", "items": id}}}
	case t == durationType:
		return object{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	case t == networkType:
		return object{"oneOf": []any{object{"type": "boolean"}, schemaOfStruct(t)}}
	case wordsOf(t) != nil:
		return object{"enum": wordsOf(t)}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return schemaOfStruct(t)
	case reflect.Map:
		s := object{"type": "object", "additionalProperties": schemaOf(t.Elem())}
		if words := wordsOf(t.Key()); words != nil {
			s["propertyNames"] = object{"enum": words}
		}
		return s
	case reflect.Slice:
		return object{"type": "array", "items": object{"type": "string", "minLength": 1}}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number", "exclusiveMinimum": 0}
	case reflect.Int:
		return object{"type": "integer", "minimum": 1}
	}
	return object{"type": "string", "minLength": 1}
}

func schemaOfStruct(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range fieldsOf(t) {
		p := schemaOf(t.Field(f.index).Type)
		p["description"] = f.doc
		properties[f.key] = p
		if f.required {
			required = append(required, f.key)
		}
	}
	s := object{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}
