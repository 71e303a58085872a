package permission

import (
	"fmt"
	"reflect"
	"strings"
)

// reference is every key of the schema as a Markdown table, made from
// the same struct tags as the decoder: docs/policy.md holds it.
func reference() string {
	var b strings.Builder
	b.WriteString("| key | value | meaning |\n|---|---|---|\n")
	referenceOf(&b, "", reflect.TypeFor[Document]())
	return b.String()
}

func referenceOf(b *strings.Builder, path string, t reflect.Type) {
	for _, f := range fieldsOf(t) {
		of := t.Field(f.index).Type
		for of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		key := join(path, f.key)
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", key, valueText(of), strings.ReplaceAll(f.doc, "|", `\|`))
		switch {
		case of == targetsType:
		case of.Kind() == reflect.Struct:
			referenceOf(b, key, of)
		case of.Kind() == reflect.Map && of.Elem().Kind() == reflect.Struct && of.Elem() != targetsType:
			referenceOf(b, key+".NAME", of.Elem())
		}
	}
}

// valueText names what a key takes.
func valueText(t reflect.Type) string {
	switch {
	case t == targetsType:
		return "word or list of agent ids"
	case t == durationType:
		return "time"
	case t == networkType:
		return "`true`, `false`, or mapping"
	case wordsOf(t) != nil:
		return "`" + strings.Join(wordsOf(t), "`, `") + "`"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "`true`, `false`"
	case reflect.Int:
		return "number"
	case reflect.Slice:
		return "list of strings"
	case reflect.Map:
		if wordsOf(t.Key()) != nil {
			return "action: " + valueText(t.Elem())
		}
		if t.Elem().Kind() == reflect.Struct {
			return "name: mapping"
		}
		return "name: string"
	case reflect.Struct:
		return "mapping"
	}
	return "string"
}
