package fileskills

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// shape is what the decoder and the gate know about an input struct. A field
// that cannot be understood is a mistake of ours: shapeOf panics, and the
// registry test meets every skill.
type shape struct {
	fields []field
	byName map[string]int
}

// field is one argument.
type field struct {
	name     string
	index    int
	optional bool
	value    valueShape
	def      reflect.Value // of an optional one; invalid: the zero value
}

// valueShape is how one value is decoded: by the kind of typ.
type valueShape struct {
	typ      reflect.Type
	actions  []access.Action // of a path
	user     bool            // holds paths within
	min, max *int64          // of a whole number
	enum     []string        // of a word
	elem     *valueShape     // of a slice or pointer
	sub      *shape          // of a struct
}

// shapeOf reads the fields of a struct type.
func shapeOf(t reflect.Type) *shape {
	s := &shape{byName: make(map[string]int, t.NumField())}
	for i := range t.NumField() {
		sf := t.Field(i)
		name, opts, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "" || !sf.IsExported() || sf.Anonymous {
			panic(fmt.Sprintf("fileskills: bug: field %s of %s has no json name", sf.Name, t))
		}
		f := field{name: name, index: i, optional: opts == "omitzero", value: valueOf(sf.Type)}
		f.value.min, f.value.max = bound(sf.Tag, "min"), bound(sf.Tag, "max")
		if words := sf.Tag.Get("enum"); words != "" {
			f.value.enum = strings.Split(words, ",")
		}
		if text, ok := sf.Tag.Lookup("default"); ok {
			f.def = defaultOf(sf.Type, text)
		}
		s.byName[name] = i
		s.fields = append(s.fields, f)
	}
	return s
}

func valueOf(t reflect.Type) valueShape {
	v := valueShape{typ: t, actions: pathActions[t]}
	switch t.Kind() {
	case reflect.String:
		v.user = t.Implements(reflect.TypeFor[pathUser]())
	case reflect.Bool, reflect.Int, reflect.Int64:
	case reflect.Slice, reflect.Pointer:
		e := valueOf(t.Elem())
		v.elem = &e
	case reflect.Struct:
		v.sub = shapeOf(t)
	default:
		panic("fileskills: bug: an argument cannot be a " + t.String())
	}
	return v
}

func bound(tag reflect.StructTag, key string) *int64 {
	text, ok := tag.Lookup(key)
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic("fileskills: bug: " + err.Error())
	}
	return &n
}

func defaultOf(t reflect.Type, text string) reflect.Value {
	v := reflect.New(t).Elem()
	var err error
	switch t.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		var b bool
		b, err = strconv.ParseBool(text)
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		v.SetInt(n)
	default:
		err = fmt.Errorf("no default for a %s", t)
	}
	if err != nil {
		panic("fileskills: bug: " + err.Error())
	}
	return v
}

// actions appends what the paths of a shape stand for.
func (s *shape) actions(to []access.Action) []access.Action {
	for _, f := range s.fields {
		to = f.value.appendActions(to)
	}
	return to
}

func (v *valueShape) appendActions(to []access.Action) []access.Action {
	to = append(to, v.actions...)
	switch {
	case v.user:
		to = append(to, reflect.Zero(v.typ).Interface().(pathUser).actions()...)
	case v.elem != nil:
		to = v.elem.appendActions(to)
	case v.sub != nil:
		to = v.sub.actions(to)
	}
	return to
}

// paths appends the arguments that hold paths. at is where the shape stands.
func (s *shape) paths(at string, to []pathArgument) []pathArgument {
	for _, f := range s.fields {
		to = f.value.paths(join(at, f.name), to)
	}
	return to
}

func (v *valueShape) paths(at string, to []pathArgument) []pathArgument {
	switch {
	case v.sub != nil:
		return v.sub.paths(at, to)
	case v.elem != nil && v.typ.Kind() == reflect.Slice:
		return v.elem.paths(at+"[]", to)
	case v.elem != nil:
		return v.elem.paths(at, to)
	}
	if actions := v.appendActions(nil); len(actions) > 0 {
		to = append(to, pathArgument{at, actions})
	}
	return to
}

// uses appends what an input is about to do, in the order of its arguments. A
// path that is absent does nothing.
func (s *shape) uses(in reflect.Value, to []use) ([]use, error) {
	var err error
	for i := range s.fields {
		if to, err = s.fields[i].value.uses(in.Field(s.fields[i].index), to); err != nil {
			return nil, err
		}
	}
	return to, nil
}

func (v *valueShape) uses(val reflect.Value, to []use) ([]use, error) {
	switch {
	case v.user:
		within, err := val.Interface().(pathUser).uses()
		return append(to, within...), err
	case v.sub != nil:
		return v.sub.uses(val, to)
	case v.elem == nil:
		for _, a := range v.actions {
			to = append(to, use{Path: val.String(), Action: a})
		}
		return to, nil
	case val.Kind() == reflect.Pointer:
		if val.IsNil() {
			return to, nil
		}
		return v.elem.uses(val.Elem(), to)
	}
	var err error
	for i := range val.Len() {
		if to, err = v.elem.uses(val.Index(i), to); err != nil {
			return nil, err
		}
	}
	return to, nil
}
