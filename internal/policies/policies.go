// Package policies is the door through which the command and the broker ask
// more of a permission.Policy, and of the files that policies stand in, than a
// user of permission needs: what is wrong with every file of a project, what a
// change widens, which layer said what. None of it decides anything.
package policies

import (
	"io/fs"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Of returns what a *permission.Policy offers behind the door: its exported
// methods and those of permission's type inside. The caller names the ones that
// it needs by an interface of its own. permission sets it.
var Of func(policy any) any

// Kind tells the two kinds of files that grant rights apart.
type Kind uint8

// The kinds of files.
const (
	PolicyFile Kind = iota + 1 // YAML or JSON
	AgentFile                  // Markdown with front matter
)

// Found is a file that Find found, or a directory that cannot be looked into.
type Found struct {
	Name string
	Kind Kind
	Err  error
}

// Find returns the policies and agent definitions in fsys that patterns cover,
// each once, for the first pattern that covers it; some says of each pattern
// whether it covers any. Of files that a wildcard covers those of the kinds that
// are asked for are returned: *.yaml and *.yml, *.json where the pattern says so,
// and *.md that begin with front matter; a file that is named outright whatever
// it holds. A directory stands for what is beneath it. Directories that links
// lead to, .git and node_modules are left out, and a pattern that cannot be read
// finds nothing. A search that takes too long ends with a Found that says so.
// permission sets it.
var Find func(fsys fs.FS, list []string, kinds ...Kind) (found []Found, some []bool)

// ProjectFile is the name of the file at a repository's root that says what
// `pinfold check` validates there, and what a run there may do.
const ProjectFile = ".pinfold.yaml"

// Project is what ProjectFile says. It grants nothing by itself: what Run widens counts
// only where the user has trusted the file. The struct tags are its schema, as those of
// permission.Document are.
type Project struct {
	Version int          `yaml:"version" required:"true" doc:"The version of this schema: 1."`
	Check   ProjectCheck `yaml:"check" doc:"What pinfold check validates when no file is named."`
	Run     *ProjectRun  `yaml:"run" doc:"What pinfold run and the agents by one word take as if it were typed. What widens a run needs pinfold trust."`
}

// ProjectRun is what a run in the project takes, as flags of the same meaning. Nil and
// empty differ: an empty Write, or a Git that is false, narrows what a launch profile
// would open.
type ProjectRun struct {
	Write       []string   `yaml:"write" doc:"Write paths, relative to this file: --write-path. Needs trust."`
	Git         *bool      `yaml:"git" doc:"Whether git commit works inside: --git. true needs trust."`
	Hide        []string   `yaml:"hide" doc:"Doublestar globs of names that do not exist inside: --hide."`
	Mask        []string   `yaml:"mask" doc:"Doublestar globs of names that are read with stand-ins for their values, and not changed: --mask."`
	Protect     []string   `yaml:"protect" doc:"Doublestar globs of names that are never writable: --protect."`
	RO          []string   `yaml:"ro" doc:"Paths of the host, beginning with / or ~/, that are shown read-only where they exist: --ro. Needs trust."`
	Home        string     `yaml:"home" doc:"A directory, beginning with / or ~/, that is the home inside: --home. Needs trust."`
	Cache       []string   `yaml:"cache" doc:"Caches of package managers (go, npm, pip, cargo) that are shown with a private layer over them: --cache. Needs trust."`
	Env         []string   `yaml:"env" doc:"Names of variables that are passed on where they are set: --env. Needs trust."`
	Secrets     []string   `yaml:"secrets" doc:"NAME=FILE: variables that hold what a file of the host does, beginning with / or ~/, where it exists: --secret. Needs trust."`
	SecretFiles []string   `yaml:"secret_files" doc:"NAME=FILE: likewise as a file in /run/secrets: --secret-file. Needs trust."`
	Sockets     []string   `yaml:"sockets" doc:"Unix sockets of the host, where they exist: ssh-agent, gpg-agent, docker, or PATH[:INSIDE] with a PATH that begins with / or ~/: --socket. Needs trust."`
	Devices     []string   `yaml:"devices" doc:"Devices of the host, beginning with /dev/, where they exist: --device. Needs trust."`
	Net         ProjectNet `yaml:"net" doc:"none takes the network away: --net none. allow leaves the hosts of allow_host: --net allow."`
	AllowHost   []string   `yaml:"allow_host" doc:"Hosts that may be connected to, and no others: --allow-host. To be without the other hosts needs no trust, to have these does."`
	Preset      string     `yaml:"preset" doc:"A preset or profile that is held, by its name: --preset. Needs trust."`

	Limits *ProjectLimits `yaml:"limits" doc:"What a run may use up."`
}

// ProjectLimits are bounds on what a run may use up. The zero value of each is none of the
// project's.
type ProjectLimits struct {
	Time   string  `yaml:"time" doc:"After which time a run ends, such as 10m: --time."`
	PIDs   int     `yaml:"pids" doc:"How many processes and threads there may be at once: --pids."`
	Memory string  `yaml:"memory" doc:"How much memory they may take together, such as 2G: --memory. It needs a control group, or systemd."`
	CPU    float64 `yaml:"cpu" doc:"How many processors they may use together: --cpu. It needs a control group, or systemd."`
}

// LeastPIDs is how many processes and threads a run without a bound of its own may have, at
// least. A project that wants more needs trust.
const LeastPIDs = 2048

// Caches are the names that ProjectRun.Cache may hold.
func Caches() []string { return []string{"go", "npm", "pip", "cargo"} }

// ProjectNet is what a project may say of the network: to take it away, or all of it but
// some hosts.
type ProjectNet string

// Words are the values there are.
func (ProjectNet) Words() []string { return []string{"none", "allow"} }

// ProjectCheck is what `pinfold check` does without arguments. Paths are
// relative to the directory of ProjectFile.
type ProjectCheck struct {
	Policies []string `yaml:"policies" doc:"Policy files: paths and doublestar globs, relative to this file. A directory stands for the *.yaml and *.yml beneath it."`
	Agents   []string `yaml:"agents" doc:"Agent definitions: paths and doublestar globs, relative to this file. A directory stands for the *.md with front matter beneath it."`
	Strict   bool     `yaml:"strict" doc:"Whether warnings count as errors. Default: false."`
	Baseline string   `yaml:"baseline" doc:"A file of known findings, which are left out: pinfold check --write-baseline writes it."`
}

// DecodeProject reads and validates a ProjectFile as strictly as
// permission.Decode reads a policy; the error is a *permission.DocumentError with
// every problem found. at says where a part such as "check.agents[0]" stands, or
// the nearest part around it. file is what positions and messages call it; nothing
// is opened. permission sets it.
var DecodeProject func(file string, data []byte) (p Project, at func(part string) access.Position, err error)

// Examination is what can be said about a document, and about what it extends,
// beside its problems, without looking at the project.
type Examination struct {
	// Name is the policy's or the agent's, "" where it has none, and NameAt
	// where that stands.
	Name   string
	NameAt access.Position

	// Config is what the document says about paths, as far as it could be read, and
	// Positions says where, as in permission.Held. They are for pathresolver.Validate
	// only and must not be enforced. Root is empty where nothing can be said.
	Config    pathresolver.Config
	Positions map[string]access.Position

	// Hides are the entries of fs.hide that name one path, without a wildcard.
	Hides []Entry
}

// Entry is an entry of a list in a document, as it was written.
type Entry struct {
	Text     string
	Path     string // where in the document: fs.hide[0]
	Position access.Position
}

// Change is one difference between two policies, in words.
type Change struct {
	Widens bool
	Text   string // "widens: ..." or "narrows: ...", with the rule that decides
}

// Step is what one layer said in one stage of a decision.
type Step struct {
	Stage  string        // tool, action, target, cross_send, outside, read, write, tool paths
	Access access.Access // about which access
	Layer  string        // "" for what holds where nobody speaks
	Effect access.Effect // "" if the layer says nothing
	Code   access.Code
	Rule   string
	Source access.Position
}

// ClaudeTools are the tools of Claude Code that a policy can speak of.
func ClaudeTools() []string {
	return []string{"Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "Task", "TodoWrite", "WebFetch", "WebSearch", "Write"}
}

// Unlisted is a write path of a caller that has no effect, because a document
// lists write paths of its own and does not cover it.
type Unlisted struct {
	Index int             // in the caller's fs.write
	Path  string          // as it stands there, relative to the root
	List  access.Position // of the innermost list that lacks it
}
