package launchprofile

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pinfold-dev/pinfold/internal/didyoumean"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
)

// Profile is how a program is started in a run. The keys of its file are the tags.
// Paths begin with / or with ~/, which is the home outside.
type Profile struct {
	Name    string `yaml:"-" json:"name"`    // the file's
	File    string `yaml:"-" json:"file"`    // "" for a built-in one
	Version int    `yaml:"version" json:"-"` // of this format: 1

	Extends string `yaml:"extends" json:"extends,omitempty"` // a built-in profile, whose keys hold where this one has none
	Title   string `yaml:"title" json:"title"`

	Program string   `yaml:"program" json:"program"` // its name in PATH
	Args    []string `yaml:"args" json:"args"`       // before the user's own
	NPM     string   `yaml:"npm" json:"npm"`         // the package that installs it
	LookIn  []string `yaml:"look_in" json:"look_in"` // files that are tried where PATH has none
	Layouts []string `yaml:"layouts" json:"layouts"` // directories that are one installation, of which all is shown
	Tested  []string `yaml:"tested" json:"tested"`   // versions that were tried, or how they begin: 2.1

	Home  string   `yaml:"home" json:"home"`   // the name of its kept home
	Show  []string `yaml:"show" json:"show"`   // shown read-only where they are
	Write []string `yaml:"write" json:"write"` // write paths where its user names none
	Git   bool     `yaml:"git" json:"git"`     // commits are possible where there is a repository
	Hide  []string `yaml:"hide" json:"hide"`

	Env       []string          `yaml:"env" json:"env"` // variables that are passed on where they are set
	Set       map[string]string `yaml:"set" json:"set"`
	SetAsRoot map[string]string `yaml:"set_as_root" json:"set_as_root"`
	Hosts     []string          `yaml:"hosts" json:"hosts"` // that it needs; told, and nothing more

	// How its model is told the rules of the run. {file} is where the run shows them, and
	// {json} is their text as a string of JSON.
	TellArgs   []string          `yaml:"tell_args" json:"tell_args"`     // after Args
	TellUnless []string          `yaml:"tell_unless" json:"tell_unless"` // user's arguments that begin so take their place
	TellSet    map[string]string `yaml:"tell_set" json:"tell_set"`       // variables
	TellHome   map[string]string `yaml:"tell_home" json:"tell_home"`     // files of its home; one that is {file} is a link
}

//go:embed builtin/*.yaml
var builtins embed.FS

// Builtins are the names of the profiles that pinfold brings.
func Builtins() []string {
	entries, _ := builtins.ReadDir("builtin") // sorted; it is in this program
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	return names
}

// OwnDir is where a user's own profiles lie: NAME.yaml. "" where there is no such place.
func OwnDir() string {
	base, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(base, "pinfold", "apps")
}

// Names are the profiles that there are, the user's own after the built-in ones.
func Names() []string {
	names := Builtins()
	entries, _ := os.ReadDir(OwnDir()) // there need not be any
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok && !slices.Contains(names, name) && profileName.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// Load reads a profile by its name: the user's own, or else the built-in one. No run can
// write where the user's own lie; one that lies elsewhere, over a link, is an error
// where the link or the file lies in one of written, the places that runs could write.
func Load(name string, written []string) (*Profile, error) {
	if profileName.MatchString(name) && OwnDir() != "" {
		file := filepath.Join(OwnDir(), name+".yaml")
		path, err := hostpath.Resolve(file)
		if err == nil {
			err = refuseWritten(file, path, written)
		}
		var data []byte
		if err == nil {
			data, err = readBounded(path.Real)
		}
		switch {
		case err == nil:
			return Decode(name, file, data)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	if !slices.Contains(Builtins(), name) {
		return nil, fmt.Errorf("unknown app '%s': %s", name, didyoumean.Hint(name, Names()))
	}
	return builtin(name)
}

// refuseWritten refuses a profile that a run could have chosen or written.
func refuseWritten(file string, path hostpath.Path, written []string) error {
	for _, link := range path.Links {
		if lies(link, written) {
			return fmt.Errorf("'%s' leads over '%s', a link that a run could have made: put the file itself there", file, link)
		}
	}
	private, _, err := hostpath.Place(filepath.Dir(OwnDir()))
	if err == nil && !lies(path.Real, []string{private}) && lies(path.Real, written) {
		err = fmt.Errorf("'%s' leads to '%s', which a run could write: put the file itself there", file, path.Real)
	}
	return err
}

func builtin(name string) (*Profile, error) {
	data, err := builtins.ReadFile("builtin/" + name + ".yaml")
	if err != nil {
		return nil, err
	}
	p, err := Decode(name, "app:"+name, data)
	if err == nil {
		p.File = ""
	}
	return p, err
}

// Text is the file of a profile.
func (p *Profile) Text() ([]byte, error) {
	if p.File == "" {
		return builtins.ReadFile("builtin/" + p.Name + ".yaml")
	}
	return readBounded(p.File)
}

// maxFile is how many bytes are read as a profile, or as a package.json.
const maxFile = 256 << 10

// readBounded reads a regular file that is not too long. A FIFO would hold it up.
func readBounded(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // was only read
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: file, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = &fs.PathError{Op: "read", Path: file, Err: fmt.Errorf("longer than %d bytes", maxFile)}
	}
	return data, err
}

// Decode reads the text of a profile strictly: an unknown key, a key twice or a value
// of another kind is an error that names the line and the key.
func Decode(name, file string, data []byte) (*Profile, error) {
	bad := func(n ast.Node, format string, args ...any) error {
		line := 1
		if n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
			line = n.GetToken().Position.Line
		}
		return fmt.Errorf("%s:%d: %s", file, line, fmt.Sprintf(format, args...))
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		message, line := "cannot be read", 1
		var ye yaml.Error
		if errors.As(err, &ye) {
			message = ye.GetMessage()
			if t := ye.GetToken(); t != nil && t.Position != nil {
				line = t.Position.Line
			}
		}
		return nil, fmt.Errorf("%s:%d: this is not YAML: %s", file, line, message)
	}
	if len(tree.Docs) != 1 {
		return nil, bad(nil, "one document is wanted")
	}
	var entries []*ast.MappingValueNode
	switch body := tree.Docs[0].Body.(type) {
	case *ast.MappingNode:
		entries = body.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{body}
	default:
		return nil, bad(body, "a profile is a mapping: version, program, ...")
	}
	p := &Profile{}
	fields := keys(reflect.ValueOf(p).Elem())
	at := map[string]ast.Node{}
	for _, entry := range entries {
		key := entry.Key.String()
		field, known := fields[key]
		switch {
		case !known:
			return nil, bad(entry.Key, "unknown key %s: %s", key, didyoumean.Hint(key, sorted(fields)))
		case at[key] != nil:
			return nil, bad(entry.Key, "%s stands twice", key)
		case entry.Value.Type() == ast.NullType:
			return nil, bad(entry.Key, "%s is empty: leave it out, or write the empty value, [] or {}", key)
		}
		at[key] = entry.Value
		if err := decodeValue(entry.Value, field); err != nil {
			return nil, bad(entry.Value, "%s: %s", key, err)
		}
	}
	if p.Extends != "" {
		if !slices.Contains(Builtins(), p.Extends) {
			return nil, bad(at["extends"], "extends: %s is not built in: %s", p.Extends, didyoumean.Hint(p.Extends, Builtins()))
		}
		base, err := builtin(p.Extends)
		if err != nil {
			return nil, err
		}
		inherited := keys(reflect.ValueOf(base).Elem())
		for key, field := range fields {
			if at[key] == nil {
				field.Set(inherited[key])
			}
		}
	}
	for _, field := range fields { // an empty list is one, also in JSON
		switch {
		case field.Kind() == reflect.Slice && field.IsNil():
			field.Set(reflect.MakeSlice(field.Type(), 0, 0))
		case field.Kind() == reflect.Map && field.IsNil():
			field.Set(reflect.MakeMap(field.Type()))
		}
	}
	p.Name, p.File = name, file
	if key, err := p.check(); err != nil {
		return nil, bad(at[key], "%s: %s", key, err)
	}
	return p, nil
}

// keys are the fields of a profile by their keys.
func keys(v reflect.Value) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		if key := v.Type().Field(i).Tag.Get("yaml"); key != "-" {
			fields[key] = v.Field(i)
		}
	}
	return fields
}

func sorted(fields map[string]reflect.Value) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// decodeValue decodes one of the four kinds of value that a profile has.
func decodeValue(n ast.Node, v reflect.Value) error {
	var want string
	switch v.Kind() {
	case reflect.Bool:
		if b, ok := n.(*ast.BoolNode); ok {
			v.SetBool(b.Value)
			return nil
		}
		want = "true or false"
	case reflect.Int:
		if _, ok := n.(*ast.IntegerNode); ok && yaml.NodeToValue(n, v.Addr().Interface()) == nil {
			return nil
		}
		want = "a number"
	case reflect.String:
		if s, ok := text(n); ok {
			v.SetString(s)
			return nil
		}
		want = "a string"
	case reflect.Slice:
		list, ok := n.(*ast.SequenceNode)
		words := []string{}
		if ok {
			for _, item := range list.Values {
				s, is := text(item)
				words, ok = append(words, s), ok && is
			}
		}
		if ok {
			v.Set(reflect.ValueOf(words))
			return nil
		}
		want = "a list of strings"
	case reflect.Map:
		words := map[string]string{}
		var entries []*ast.MappingValueNode
		ok := true
		switch m := n.(type) {
		case *ast.MappingNode:
			entries = m.Values
		case *ast.MappingValueNode:
			entries = []*ast.MappingValueNode{m}
		default:
			ok = false
		}
		for _, e := range entries {
			s, is := text(e.Value)
			words[strings.Trim(e.Key.String(), `"'`)], ok = s, ok && is
		}
		if ok {
			v.Set(reflect.ValueOf(words))
			return nil
		}
		want = "NAME: \"VALUE\", of strings"
	}
	return errors.New("want " + want)
}

// text is a node's string. A number or a boolean is not one.
func text(n ast.Node) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	}
	return "", false
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check refuses what cannot be meant, and names the key.
func (p *Profile) check() (key string, err error) {
	switch {
	case p.Version != 1:
		return "version", errors.New("this program reads version: 1")
	case !profileName.MatchString(p.Program):
		return "program", errors.New("want the name of a program, without a slash")
	case !profileName.MatchString(p.Home):
		return "home", errors.New("want a name for its kept home, without a slash")
	}
	for key, list := range map[string][]string{"look_in": p.LookIn, "layouts": p.Layouts, "show": p.Show} {
		for _, path := range list {
			if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "~/") || strings.Contains(path+"/", "/../") {
				return key, fmt.Errorf("'%s' begins neither with / nor with ~/, or leads up", path)
			}
		}
	}
	for _, path := range mapKeys(p.TellHome) {
		if !filepath.IsLocal(path) {
			return "tell_home", fmt.Errorf("'%s' is no path in its home", path)
		}
	}
	for key, list := range map[string][]string{"env": p.Env, "set": mapKeys(p.Set), "set_as_root": mapKeys(p.SetAsRoot), "tell_set": mapKeys(p.TellSet)} {
		for _, name := range list {
			if !variable.MatchString(name) {
				return key, fmt.Errorf("'%s' is not the name of a variable", name)
			}
		}
	}
	return "", nil
}

func mapKeys(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Variables are the entries of --env that a profile stands for: each variable that it
// passes on, if lookup has it, and those that it sets.
func (p *Profile) Variables(lookup func(string) (string, bool), root bool) []string {
	var list []string
	for _, name := range p.Env {
		if _, set := lookup(name); set {
			list = append(list, name)
		}
	}
	sets := []map[string]string{p.Set}
	if root {
		sets = append(sets, p.SetAsRoot)
	}
	for _, set := range sets {
		for _, name := range mapKeys(set) {
			list = append(list, name+"="+set[name])
		}
	}
	return list
}

// Telling are the arguments and the entries of --env that tell a model the rules, whose
// text stands in file. args are the user's.
func (p *Profile) Telling(file string, text []byte, args []string) (tell, env []string) {
	asJSON, _ := json.Marshal(string(text)) // a string always can be
	fill := strings.NewReplacer("{file}", file, "{json}", string(asJSON))
	own := func(arg string) bool {
		return slices.ContainsFunc(p.TellUnless, func(begin string) bool { return strings.HasPrefix(arg, begin) })
	}
	if !slices.ContainsFunc(args, own) {
		for _, arg := range p.TellArgs {
			tell = append(tell, fill.Replace(arg))
		}
	}
	for _, name := range mapKeys(p.TellSet) {
		env = append(env, name+"="+fill.Replace(p.TellSet[name]))
	}
	return tell, env
}

// TellIn makes the files of TellHome in a home, whose path leads over no link. An agent
// can write there: no link in it leads out, and what lies in the way is not read unless
// it is a file of the same length.
func (p *Profile) TellIn(home, file string) error {
	if len(p.TellHome) == 0 {
		return nil
	}
	dir, err := hostpath.Open(home, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // only compared
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // holds a descriptor, nothing to lose
	meant, err := dir.Stat()
	opened, err2 := root.Stat(".")
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if !os.SameFile(meant, opened) {
		return &fs.PathError{Op: "open", Path: home, Err: errors.New("something else has taken its place")}
	}
	for _, name := range mapKeys(p.TellHome) {
		text := p.TellHome[name]
		if text == "{file}" {
			if to, err := root.Readlink(name); err == nil && to == file {
				continue
			}
		} else if holds(root, name, text) {
			continue
		}
		err := root.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			if err = root.Remove(name); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		switch {
		case err != nil:
		case text == "{file}":
			err = root.Symlink(file, name)
		default:
			err = writeNew(root, name, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// holds reports whether a regular file has this text. An agent may have put a FIFO there.
func holds(root *os.Root, name, text string) bool {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(len(text))+1))
	return err == nil && string(data) == text
}

// writeNew makes a file that was not there, and opens no other.
func writeNew(root *os.Root, name, text string) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// HomesDir is where the homes of all profiles are kept, with the logins in them; ""
// where there is no such place. It need not exist.
func HomesDir() string {
	base := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		home := os.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "pinfold", "homes")
}

// KeptHome is where a profile's home is kept. It need not exist.
func (p *Profile) KeptHome() (string, error) {
	dir := HomesDir()
	if dir == "" {
		return "", errors.New("neither $XDG_DATA_HOME nor $HOME names a directory for its home")
	}
	return filepath.Join(dir, p.Home), nil
}

// Install is what to type to install the program; "" where nobody said.
func (p *Profile) Install() string {
	if p.NPM == "" {
		return ""
	}
	return "npm install -g " + p.NPM
}

// Known reports whether a version was tried; an unknown one was not.
func (p *Profile) Known(version string) bool {
	return len(p.Tested) == 0 || slices.ContainsFunc(p.Tested, func(tested string) bool {
		return version == tested || strings.HasPrefix(version, tested+".")
	})
}
