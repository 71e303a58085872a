package permission

import (
	"reflect"
	"strings"
)

// field is one key of the schema, as a struct tag says it.
type field struct {
	key      string
	doc      string
	index    int
	required bool
	always   bool // encoded even when it has its zero value
	block    bool // encoded in block style, however short
}

// fieldsOf are the keys of a struct of the schema, in the order in which they
// are written.
func fieldsOf(t reflect.Type) []field {
	fields := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		fields = append(fields, field{
			key: tag.Get("yaml"), doc: tag.Get("doc"), index: i,
			required: tag.Get("required") == "true", always: tag.Get("always") == "true", block: tag.Get("style") == "block",
		})
	}
	return fields
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

// wordsOf returns the closed list of a type's values, if it has one.
func wordsOf(t reflect.Type) []string {
	switch w := reflect.Zero(t).Interface().(type) {
	case word:
		return w.words()
	case interface{ Words() []string }:
		return w.Words()
	}
	return nil
}

var (
	targetsType  = reflect.TypeFor[Targets]()
	durationType = reflect.TypeFor[Duration]()
	networkType  = reflect.TypeFor[Network]()
)

// join is the path of a key within a document.
func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }
