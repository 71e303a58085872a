package fileskills

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The bounds on an input. Depth needs none: it is that of the types.
const (
	maxInput = 64 << 20 // bytes of JSON
	maxItems = 10_000   // elements of one list
)

// decode fills in, a pointer to the struct of the shape. It is strict: names
// are matched letter by letter, an unknown or repeated one is refused, so is
// anything of another type, and so is text that is not UTF-8. Errors are
// *Error with CodeInvalidArgument.
func (k *skill) decode(input json.RawMessage, in any) error {
	if len(input) > maxInput {
		return fail(CodeTooLarge, "", "the arguments of %s are %d bytes: more than %d are not taken", k.name, len(input), maxInput)
	}
	if len(bytes.TrimSpace(input)) == 0 || string(input) == "null" {
		input = json.RawMessage("{}")
	}
	d := decoder{skill: k.name, in: jsontext.NewDecoder(bytes.NewBuffer(input))}
	err := d.object(reflect.ValueOf(in).Elem(), k.shape(), "")
	if err == nil {
		if _, err = d.in.ReadToken(); err == io.EOF {
			return nil
		}
		err = d.syntax(err)
	}
	e := err.(*Error)
	if e.Hint == "" {
		e.Hint = "Arguments of " + k.name + ": " + k.shape().summary() + "."
	}
	return e
}

// decoder reads one input.
type decoder struct {
	skill string
	in    *jsontext.Decoder
}

func (d *decoder) object(v reflect.Value, s *shape, at string) error {
	tok, err := d.in.ReadToken()
	if err != nil {
		return d.syntax(err)
	}
	if tok.Kind() != '{' {
		return d.mistyped(at, "an object", tok.Kind())
	}
	for _, f := range s.fields {
		if f.def.IsValid() {
			v.Field(f.index).Set(f.def)
		}
	}
	var given uint64
	for {
		tok, err := d.in.ReadToken()
		if err != nil {
			return d.repeated(err, at)
		}
		if tok.Kind() == '}' {
			break
		}
		name := tok.String()
		i, ok := s.byName[name]
		if !ok {
			return d.unknown(at, name, s)
		}
		f := &s.fields[i]
		present, err := d.value(v.Field(f.index), &f.value, join(at, name), f.optional)
		if err != nil {
			return err
		}
		if present {
			given |= 1 << i
		}
	}
	for i, f := range s.fields {
		if !f.optional && given&(1<<i) == 0 {
			return fail(CodeInvalidArgument, "", "%s: the argument %q is missing", d.skill, join(at, f.name))
		}
	}
	return nil
}

// value decodes one value. For an optional one null and "" mean absent.
func (d *decoder) value(v reflect.Value, s *valueShape, at string, optional bool) (present bool, err error) {
	switch {
	case s.sub != nil:
		if optional && d.in.PeekKind() == 'n' {
			return false, d.skip()
		}
		return true, d.object(v, s.sub, at)
	case v.Kind() == reflect.Pointer:
		fresh := reflect.New(s.elem.typ)
		present, err = d.value(fresh.Elem(), s.elem, at, optional)
		if present && err == nil {
			v.Set(fresh)
		}
		return present, err
	}
	tok, err := d.in.ReadToken()
	if err != nil {
		return false, d.syntax(err)
	}
	kind := tok.Kind()
	if optional && (kind == 'n' || kind == '"' && tok.String() == "") {
		return false, nil
	}
	switch v.Kind() {
	case reflect.String:
		if kind != '"' {
			return false, d.mistyped(at, "a string", kind)
		}
		text := tok.String()
		if s.enum != nil && !slices.Contains(s.enum, text) {
			return false, fail(CodeInvalidArgument, "", "%s: %q must be %s, not %q", d.skill, at, orList(s.enum), clip(text, 40))
		}
		v.SetString(text)
	case reflect.Bool:
		if kind != 't' && kind != 'f' {
			return false, d.mistyped(at, "true or false", kind)
		}
		v.SetBool(kind == 't')
	case reflect.Int, reflect.Int64:
		if kind != '0' {
			return false, d.mistyped(at, "a whole number", kind)
		}
		n, ok := wholeNumber(tok.String())
		if !ok {
			return false, fail(CodeInvalidArgument, "", "%s: %q must be a whole number, not %s", d.skill, at, clip(tok.String(), 40))
		}
		if s.min != nil && n < *s.min || s.max != nil && n > *s.max {
			return false, fail(CodeInvalidArgument, "", "%s: %q must be %s, not %d", d.skill, at, rangeText(s), n)
		}
		v.SetInt(n)
	case reflect.Slice:
		if kind != '[' {
			return false, d.mistyped(at, "a list", kind)
		}
		return true, d.list(v, s, at)
	}
	return true, nil
}

// wholeNumber reads a number of JSON, in which 1, 1.0 and 1e0 are the same: programs
// that know only one kind of number write any of them. From 2^53 on such a program no
// longer knows which number it means.
func wholeNumber(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	const exact = 1 << 53
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= exact {
		return 0, false
	}
	return int64(f), true
}

func (d *decoder) list(v reflect.Value, s *valueShape, at string) error {
	for n := 0; d.in.PeekKind() != ']'; n++ {
		if n == maxItems {
			return fail(CodeInvalidArgument, "", "%s: %q has more than %d elements", d.skill, at, maxItems)
		}
		elem := reflect.New(s.elem.typ).Elem()
		if _, err := d.value(elem, s.elem, fmt.Sprintf("%s[%d]", at, n), false); err != nil {
			return err
		}
		v.Set(reflect.Append(v, elem))
	}
	if _, err := d.in.ReadToken(); err != nil {
		return d.syntax(err)
	}
	return nil
}

func (d *decoder) skip() error {
	if err := d.in.SkipValue(); err != nil {
		return d.syntax(err)
	}
	return nil
}

// syntax is the refusal of input that is no single JSON object.
func (d *decoder) syntax(err error) error {
	why := "there is more after the end of the object"
	var bad *jsontext.SyntacticError
	switch {
	case errors.As(err, &bad):
		why = bad.Err.Error()
	case err != nil:
		why = "it ends too early"
	}
	return fail(CodeInvalidArgument, "", "the arguments of %s are not valid JSON: %s", d.skill, clip(why, 200))
}

// repeated is syntax where a name may be one that was there before.
func (d *decoder) repeated(err error, at string) error {
	var bad *jsontext.SyntacticError
	if !errors.As(err, &bad) || !errors.Is(err, jsontext.ErrDuplicateName) {
		return d.syntax(err)
	}
	return fail(CodeInvalidArgument, "", "%s: the argument %q is given twice", d.skill, clip(join(at, bad.JSONPointer.LastToken()), 80))
}

func (d *decoder) mistyped(at, want string, got jsontext.Kind) error {
	if at == "" {
		return fail(CodeInvalidArgument, "", "the arguments of %s must be a JSON object, not %s", d.skill, kindText(got))
	}
	return fail(CodeInvalidArgument, "", "%s: %q must be %s, not %s", d.skill, at, want, kindText(got))
}

func (d *decoder) unknown(at, name string, s *shape) error {
	e := fail(CodeInvalidArgument, "", "%s has no argument %q", d.skill, clip(join(at, name), 80))
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	if like := nearest(name, names); like != "" {
		e.Hint = fmt.Sprintf("Did you mean %q? Arguments: %s.", like, s.summary())
	}
	return e
}

// summary lists the arguments, optional ones with a question mark.
func (s *shape) summary() string {
	parts := make([]string, len(s.fields))
	for i, f := range s.fields {
		parts[i] = f.name
		if f.optional {
			parts[i] += "?"
		}
		if e := f.value.elem; e != nil && e.sub != nil {
			parts[i] += "[{" + e.sub.summary() + "}]"
		}
	}
	return strings.Join(parts, ", ")
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func kindText(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "a list"
	}
	return "an object"
}

func rangeText(s *valueShape) string {
	switch {
	case s.max == nil:
		return fmt.Sprintf("at least %d", *s.min)
	case s.min == nil:
		return fmt.Sprintf("at most %d", *s.max)
	}
	return fmt.Sprintf("from %d to %d", *s.min, *s.max)
}

func orList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return strings.Join(quoted, " or ")
}

// clip shortens text for a message.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
