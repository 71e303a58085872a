package launchprofile

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

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
	Hosts     []string          `yaml:"hosts" json:"hosts"` // that it needs; --net allow lets it reach them

	// What its user may say for a sandbox of its own, which it cannot make inside, and
	// what is started instead; "" is refused.
	OwnSandbox map[string]string `yaml:"own_sandbox" json:"own_sandbox"`

	// How its model is told the rules of the run. {file} is where the run shows them,
	// {text} their text, and {json} that as a string of JSON.
	TellArgs   []string          `yaml:"tell_args" json:"tell_args"`     // after Args
	TellUnless []string          `yaml:"tell_unless" json:"tell_unless"` // where user's arguments begin so,
	TellElse   []string          `yaml:"tell_else" json:"tell_else"`     // these are used instead
	TellJoin   string            `yaml:"tell_join" json:"tell_join"`     // or the rules join what follows this: a string of JSON, or a word
	TellSet    map[string]string `yaml:"tell_set" json:"tell_set"`       // variables
	TellHome   map[string]string `yaml:"tell_home" json:"tell_home"`     // files of its home; one that is {file} is a link

	// How 'pinfold mcp' is connected where that is wanted: beside TellArgs, and instead of
	// what TellSet and TellHome have of the same name.
	MCPArgs []string          `yaml:"mcp_args" json:"mcp_args"`
	MCPSet  map[string]string `yaml:"mcp_set" json:"mcp_set"`
	MCPHome map[string]string `yaml:"mcp_home" json:"mcp_home"`
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
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok && !slices.Contains(names, name) && profileName().MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}

var profileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`) })

// Load reads a profile by its name: the user's own, or else the built-in one. No run can
// write where the user's own lie; one that lies elsewhere, over a link, is an error
// where the link or the file lies in one of written, the places that runs could write.
func Load(name string, written []string) (*Profile, error) {
	if profileName().MatchString(name) && OwnDir() != "" {
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
