package fileskills

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// TestRegistry walks all skills: each declares what it does to which path (M7,
// T01). A skill that forgets one does not pass.
func TestRegistry(t *testing.T) {
	for _, k := range all {
		require.NotEmpty(t, k.description, k.name)
		require.Empty(t, undeclared(k.typ), k.name)
		require.NotEmpty(t, k.actions(), "%s declares no access", k.name)
		known := reflect.TypeFor[Meta]()
		for name := range strings.FieldsSeq(k.meta) {
			_, ok := known.FieldByNameFunc(func(f string) bool {
				sf, _ := known.FieldByName(f)
				return strings.Split(sf.Tag.Get("json"), ",")[0] == name
			})
			require.True(t, ok, "%s: Meta has no %q", k.name, name)
		}
		if k.writes() {
			require.True(t, k.destructive || slices.Contains([]string{"append_file", "mkdir"}, k.name), k.name)
		} else {
			require.False(t, k.destructive, k.name)
			require.True(t, k.idempotent, k.name)
		}
	}
	names := map[string]bool{}
	for _, k := range all {
		require.False(t, names[k.name], k.name)
		names[k.name] = true
	}
}

// TestRegistryCanFail shows that the walk finds what it is there to find.
func TestRegistryCanFail(t *testing.T) {
	type nested struct {
		Into string `json:"dest_file"`
	}
	type forgetful struct {
		Path readPath `json:"path"`
		Dirs []string `json:"dirs"`
		List []nested `json:"list"`
		Text string   `json:"text"`
	}
	require.Equal(t, []string{"dirs", "list.dest_file"}, undeclared(reflect.TypeFor[forgetful]()))
}

var pathWords = regexp.MustCompile(`(?i)path|file|dir|folder|source|src|dest|target|location|cwd|root|patch$`)

// undeclared are the arguments that are named like a path and have the type of
// plain text.
func undeclared(typ reflect.Type) []string {
	var found []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		e := f.Type
		for e.Kind() == reflect.Slice || e.Kind() == reflect.Pointer {
			e = e.Elem()
		}
		switch {
		case e.Kind() == reflect.Struct:
			for _, inner := range undeclared(e) {
				found = append(found, name+"."+inner)
			}
		case e == reflect.TypeFor[string]() && pathWords.MatchString(name):
			found = append(found, name)
		}
	}
	return found
}

// TestDeclared: the table of the arguments that hold paths.
func TestDeclared(t *testing.T) {
	want := map[string][]pathArgument{
		"read_file":       {{"path", []access.Action{access.FSRead}}},
		"list_directory":  {{"path", []access.Action{access.FSList}}},
		"glob":            {{"path", []access.Action{access.FSList}}},
		"grep":            {{"path", []access.Action{access.FSRead}}},
		"file_info":       {{"path", []access.Action{access.FSList}}},
		"write_file":      {{"path", []access.Action{access.FSWrite}}},
		"edit_file":       {{"path", []access.Action{access.FSRead, access.FSWrite}}},
		"edit_file_batch": {{"path", []access.Action{access.FSRead, access.FSWrite}}},
		"append_file":     {{"path", []access.Action{access.FSWrite}}},
		"regex_replace":   {{"path", []access.Action{access.FSRead, access.FSWrite}}},
		"mkdir":           {{"path", []access.Action{access.FSCreate}}},
		"copy_file":       {{"source", []access.Action{access.FSRead}}, {"destination", []access.Action{access.FSWrite}}}, // W11
		"rename":          {{"source", []access.Action{access.FSMove}}, {"destination", []access.Action{access.FSMove}}},  // W12
		"delete_file":     {{"path", []access.Action{access.FSDelete}}},
	}
	for _, s := range newWorld(t).set.Skills() {
		require.Equal(t, want[s.Name], byName()[s.Name].shape().paths("", nil), s.Name)
		delete(want, s.Name)
	}
	require.Empty(t, want)
	type nested struct {
		List []struct {
			At   writePath `json:"at"`
			Text string    `json:"text"`
		} `json:"list"`
		Maybe *readPath `json:"maybe,omitzero"`
	}
	require.Equal(t, []pathArgument{{"list[].at", []access.Action{access.FSWrite}}, {"maybe", []access.Action{access.FSRead}}},
		shapeOf(reflect.TypeFor[nested]()).paths("", nil))
}

// TestListing: what is listed follows from the accesses (W4, W5).
func TestListing(t *testing.T) {
	listed := func(w *world) (names []string) {
		for _, s := range w.set.Skills() {
			names = append(names, s.Name)
		}
		return names
	}
	readOnly := listed(newWorldWith(t, pathresolver.Config{}))
	for _, k := range all {
		require.Equal(t, !k.writes(), slices.Contains(readOnly, k.name), k.name)
	}
	writing := listed(newWorld(t, func(c *Config) { c.Enable = nil }))
	for _, k := range all {
		require.Equal(t, !k.off, slices.Contains(writing, k.name), k.name)
	}
	require.Contains(t, listed(newWorld(t)), "delete_file")
}

// TestSizeOfListing: what a client pays in tokens for all tools.
func TestSizeOfListing(t *testing.T) {
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	var tools []tool
	for _, s := range newWorld(t).set.Skills() {
		tools = append(tools, tool{s.Name, s.Description, s.InputSchema})
	}
	b, err := json.Marshal(tools)
	require.NoError(t, err)
	t.Logf("%d tools, %d bytes, %d with 105 of annotations each", len(tools), len(b), len(b)+105*len(tools))
	require.Less(t, len(b), 8<<10)
}

func TestNew(t *testing.T) {
	for want, c := range map[string]Config{
		"no Resolver":             {},
		`"nosuch": no such skill`: {FS: Resolved(nil), Enable: []string{"nosuch"}},
		"both":                    {FS: Resolved(nil), Resolver: &pathresolver.Resolver{}},
		"unknown guard":           {FS: Resolved(nil), Guard: 9},
	} {
		_, err := New(c)
		require.ErrorContains(t, err, want)
	}
}
