package permission

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/policies"
)

const projectExample = `version: 1
check:
  policies: [policy.yaml, "policies/**/*.yml"]
  agents: [".claude/agents/**/*.md"]
  strict: true
  baseline: .pinfold-baseline.json
`

func TestDecodeProject(t *testing.T) {
	project, at, err := decodeProject(policies.ProjectFile, []byte(projectExample))
	require.NoError(t, err)
	require.Equal(t, policies.Project{Version: 1, Check: policies.ProjectCheck{
		Policies: []string{"policy.yaml", "policies/**/*.yml"},
		Agents:   []string{".claude/agents/**/*.md"}, Strict: true, Baseline: ".pinfold-baseline.json",
	}}, project)
	require.Equal(t, access.Position{File: policies.ProjectFile, Line: 4, Column: 12}, at("check.agents[0]"))
}

func TestDecodeProjectRun(t *testing.T) {
	project, at, err := decodeProject(policies.ProjectFile, []byte(`version: 1
run:
  write: [src, .]
  git: true
  hide: ["**/.env"]
  protect: [go.mod]
  ro: [~/go, /srv/sdk]
  home: ~/.agent-home
  env: [NPM_TOKEN]
  net: none
  preset: WRITE
`))
	require.NoError(t, err)
	yes := true
	require.Equal(t, policies.Project{Version: 1, Run: &policies.ProjectRun{Write: []string{"src", "."}, Git: &yes, Hide: []string{"**/.env"},
		Protect: []string{"go.mod"}, RO: []string{"~/go", "/srv/sdk"}, Home: "~/.agent-home", Env: []string{"NPM_TOKEN"}, Net: "none", Preset: "WRITE"}}, project)
	require.Equal(t, access.Position{File: policies.ProjectFile, Line: 3, Column: 11}, at("run.write[0]"))
	project, _, err = decodeProject(policies.ProjectFile, []byte("version: 1\nrun: {write: [], git: false}\n"))
	require.NoError(t, err)
	require.NotNil(t, project.Run.Write, "an empty list narrows, and none does not")
	require.False(t, *project.Run.Git)
}

// What is not known is refused, in its place.
func TestDecodeProjectIsStrict(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                  "1:1: the document is empty",
		"[]":                                                "1:1: the document is a list; want a mapping",
		"version: 1":                                        "1:1: neither 'check' nor 'run' is given",
		"version: 1\ncheck: {}":                             "2:1: check names nothing (list 'policies' or 'agents')",
		"version: 2\ncheck: {agents: [a]}":                  "1:1: version 2 is not known",
		"version: 1\ncheck: {agent: [a]}":                   "2:9: unknown key 'agent' in check (did you mean 'agents'?)",
		"version: 1\nchek: {agents: [a]}":                   "2:1: unknown key 'chek' at the top of a document (did you mean 'check'?)",
		"version: 1\ncheck: {agents: a}":                    "2:17: check.agents is a string; want a list",
		"version: 1\ncheck: {agents: [1]}":                  "2:18: check.agents[0] is a integer; want a string",
		"version: 1\ncheck: {agents: [../a]}":               `2:18: check.agents[0]: '../a' has a component ".."`,
		"version: 1\ncheck: {agents: [/a]}":                 "2:18: check.agents[0]: '/a' is absolute",
		"version: 1\ncheck: {agents: ['[']}":                "2:18: check.agents[0]: '[' is not a valid glob",
		"version: 1\ncheck: {agents: [a], strict: yes}":     "2:30: check.strict is a string; want true or false",
		"version: 1\ncheck: {agents: [a], baseline: ../b}":  "2:22: check.baseline: '../b' lies elsewhere",
		"version: 1\ncheck: {agents: [a]}\ncheck: {}":       "3:1: key 'check' is given twice",
		"version: 1\ncheck: {agents: &a [a], policies: *a}": "2:17: anchors are not allowed",
		"version: 1\nrun: {wirte: [a]}":                     "2:7: unknown key 'wirte' in run (did you mean 'write'?)",
		"version: 1\nrun: {write: [../a]}":                  "2:15: run.write[0]: '../a' lies elsewhere",
		"version: 1\nrun: {write: [/a]}":                    "2:15: run.write[0]: '/a' lies elsewhere",
		"version: 1\nrun: {ro: [a]}":                        "2:12: run.ro[0]: 'a' begins neither with / nor with ~/",
		"version: 1\nrun: {ro: [~/a/../..]}":                "2:12: run.ro[0]: '~/a/../..' begins neither with / nor with ~/, or leads up",
		"version: 1\nrun: {home: a}":                        "2:7: run.home: 'a' begins neither",
		"version: 1\nrun: {env: [A=b]}":                     "2:13: run.env[0]: 'A=b' is not the name of a variable",
		"version: 1\nrun: {net: host}":                      "2:12: run.net: unknown word \"host\"",
		"version: 1\nrun: {preset: wroker}":                 "2:7: run.preset: unknown preset \"wroker\" (did you mean 'worker'?)",
		"version: 1\nrun: {limits: {time: 10}}":             "2:22: run.limits.time is a integer; want a string",
		"version: 1\nrun: {limits: {time: soon}}":           "2:16: run.limits.time: 'soon' is no time",
		"version: 1\nrun: {limits: {time: -1s}}":            "2:16: run.limits.time: '-1s' is no time",
		"version: 1\nrun: {limits: {pids: 0}}":              "2:16: run.limits.pids: 0 is less than one process",
		"version: 1\nrun: {limits: {memory: 2X}}":           "2:16: run.limits.memory: '2X' is no size",
		"version: 1\nrun: {limits: {cpu: .nan}}":            "2:21: run.limits.cpu",
		"version: 1\nrun: {limits: {cpu: 0}}":               "2:16: run.limits.cpu: 0 is no number of processors",
		"version: 1\nrun: {limits: {disk: 1G}}":             "2:16: unknown key 'disk' in run.limits",
		"version: 1\nrun: {git: [a]}":                       "2:12: run.git is a list; want true or false",
		"version: 1\nrun: {hide: ['[']}":                    "2:14: run.hide[0]: '[' is not a valid glob",
		"version: 1\nrun: {command: [sh]}":                  "2:7: unknown key 'command' in run",
	} {
		_, _, err := decodeProject(policies.ProjectFile, []byte(text))
		var de *DocumentError
		require.ErrorAs(t, err, &de, text)
		require.Contains(t, err.Error(), policies.ProjectFile+":"+want, text)
	}
}

// projectSchemaID is where the published JSON Schema of ProjectFile lives.
const projectSchemaID = "https://raw.githubusercontent.com/pinfold-dev/pinfold/main/docs/schema/project.schema.json"

// projectSchema is the JSON Schema (2020-12) of a ProjectFile, made from the same
// struct tags as the decoder.
func projectSchema() []byte {
	return publish(schemaOf(reflect.TypeFor[policies.Project]()), projectSchemaID, "pinfold project file")
}

// The schema that is shipped is the one that the code makes, and takes what
// decoding takes.
func TestProjectSchemaIsShipped(t *testing.T) {
	const file = "../docs/schema/project.schema.json"
	if *update {
		require.NoError(t, os.WriteFile(file, projectSchema(), 0o644))
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(projectSchema()), string(data), "go test ./permission -run Schema -update writes it")

	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource(projectSchemaID, v))
	s, err := c.Compile(projectSchemaID)
	require.NoError(t, err)
	require.NoError(t, fits(t, s, []byte(`{"version": 1, "check": {"agents": ["a/**/*.md"], "policies": [], "strict": true, "baseline": "b.json"}}`)))
	require.NoError(t, fits(t, s, []byte(`{"version": 1, "run": {"write": ["src"], "git": true, "net": "none"}}`)))
	_, _, err = decodeProject(policies.ProjectFile, []byte(`{"version": 1}`))
	require.Error(t, err, "which the schema does not say")
	for _, text := range []string{`{}`, `{"version": 1, "run": {"net": "host"}}`, `{"version": 2, "check": {}}`, `{"version": 1, "check": {"agent": []}}`, `{"version": 1, "check": {"strict": "yes"}}`} {
		require.Error(t, fits(t, s, []byte(text)), text)
		_, _, err := decodeProject(policies.ProjectFile, []byte(text))
		require.Error(t, err, text)
	}
}

// findOne is find for one pattern.
func findOne(fsys fs.FS, glob string, kinds ...policies.Kind) []policies.Found {
	found, _ := find(fsys, []string{glob}, kinds...)
	return found
}

// find returns what a glob covers, of the kinds that are asked for.
func TestFind(t *testing.T) {
	fsys := fstest.MapFS{
		".claude/agents/a.md":         {Data: []byte("---\nname: a\n---\n")},
		".claude/agents/deep/b.md":    {Data: []byte("---\nname: b\n---\n")},
		".claude/agents/README.md":    {Data: []byte("# Agents\n")},
		".claude/agents/node_modules": {Mode: os.ModeDir},
		".claude/agents/node_modules/x.md": {
			Data: []byte("---\n")},
		"policies/p.yaml":    {Data: []byte("version: 1\n")},
		"policies/q.yml":     {Data: []byte("version: 1\n")},
		"policies/r.json":    {Data: []byte("{}")},
		"policies/no.txt":    {Data: []byte("x")},
		policies.ProjectFile: {Data: []byte("version: 1\n")},
		".git/config.yaml":   {Data: []byte("x")},
		"policies/fifo.yml":  {Mode: os.ModeNamedPipe},
	}
	names := func(glob string, kinds ...policies.Kind) []string {
		list := []string{}
		for _, f := range findOne(fsys, glob, kinds...) {
			require.NoError(t, f.Err)
			list = append(list, f.Name)
		}
		return list
	}
	agents := []string{".claude/agents/a.md", ".claude/agents/deep/b.md"}
	for _, glob := range []string{".claude/agents/**/*.md", ".claude/agents", "**/agents", ".claude/agents/**", "."} {
		require.Equal(t, agents, names(glob, policies.AgentFile), glob)
	}
	require.Equal(t, []string{".claude/agents/a.md"}, names(".claude/agents/?.md", policies.AgentFile))
	require.Equal(t, []string{"policies/p.yaml", "policies/q.yml"}, names("policies", policies.PolicyFile))
	require.Equal(t, []string{"policies/r.json"}, names("policies/*.json", policies.PolicyFile))
	require.Equal(t, []string{"policies/no.txt"}, names("policies/no.txt", policies.PolicyFile), "named outright")
	require.Equal(t, []string{".claude/agents/README.md"}, names(".claude/agents/README.md", policies.AgentFile), "named outright")
	require.Empty(t, names("policies", policies.AgentFile))
	require.Empty(t, names("missing/**", policies.AgentFile))
	require.Empty(t, names("[", policies.AgentFile))
	require.Len(t, names(".", policies.PolicyFile, policies.AgentFile), 4)
}

// opened tells of what is opened.
type opened struct {
	fstest.MapFS
	names []string
}

func (o *opened) Open(name string) (fs.File, error) {
	o.names = append(o.names, name)
	return o.MapFS.Open(name)
}

// What is no file is never opened: a FIFO would not come back.
func TestFindOpensNoFIFO(t *testing.T) {
	fsys := &opened{MapFS: fstest.MapFS{
		"a.md": {Data: []byte("---\nname: a\n---\n")},
		"x.md": {Mode: fs.ModeNamedPipe, Data: []byte("---\n")},
	}}
	require.Equal(t, []policies.Found{{Name: "a.md", Kind: policies.AgentFile}}, findOne(fsys, "**/*.md", policies.AgentFile))
	require.Equal(t, []string{".", "a.md", "a.md"}, fsys.names)
}

// Many patterns are one search: each file is returned once, for the first that
// covers it, and a pattern that covers none is told.
func TestFindMany(t *testing.T) {
	fsys := &opened{MapFS: fstest.MapFS{
		"a/x.yaml":   {Data: []byte("x")},
		"a/b/y.yaml": {Data: []byte("y")},
		"a/z.json":   {Data: []byte("{}")},
		"c/w.yml":    {Data: []byte("w")},
	}}
	list, some := find(fsys, []string{"a/*.yaml", "**/*.yaml", "[", "a/*.md", "a/z.json", "a/*.json", "c", "c/*/x"}, policies.PolicyFile)
	require.Equal(t, []policies.Found{{Name: "a/x.yaml", Kind: policies.PolicyFile}, {Name: "a/b/y.yaml", Kind: policies.PolicyFile}, {Name: "a/z.json", Kind: policies.PolicyFile}, {Name: "c/w.yml", Kind: policies.PolicyFile}}, list)
	require.Equal(t, []bool{true, true, false, false, true, true, true, false}, some)
}

// A search ends at its bounds, whoever made the tree and the patterns.
func TestFindHasBounds(t *testing.T) {
	tree := fstest.MapFS{}
	for i := range 100 {
		tree[fmt.Sprintf("d/%d.yaml", i)] = &fstest.MapFile{Data: []byte("x")}
		tree[fmt.Sprintf("e/%0100d", i)] = &fstest.MapFile{Data: []byte("x")}
	}
	var many, heavy []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("**/*%d.yaml", i))
	}
	for i := range 20 {
		heavy = append(heavy, "**/"+strings.Repeat("*a", 2000)+fmt.Sprint(i))
	}
	search := func(list []string, left int) (found []policies.Found, reads []string) {
		fsys := &opened{MapFS: tree}
		f := finder{fsys: fsys, kinds: []policies.Kind{policies.PolicyFile}, left: left}
		found, _ = f.all(list)
		return found, fsys.names
	}
	ended := func(found []policies.Found) bool {
		return slices.ContainsFunc(found, func(f policies.Found) bool { return errors.Is(f.Err, errManyVisits) })
	}
	found, reads := search(many, 202*cost(2*len(many), 0, ""))
	require.Len(t, found, 100)
	require.False(t, ended(found))
	require.Equal(t, []string{".", "d", "e"}, reads, "each directory is read once, for all patterns")
	found, _ = search(many, 201*cost(2*len(many), 0, ""))
	require.True(t, ended(found))
	found, _ = search(heavy, 202*cost(2*len(many), 0, ""))
	require.True(t, ended(found), "few patterns that are long are as many")
	found, _ = search(many[:100], 10_000)
	require.False(t, ended(found))

	deep := fstest.MapFS{strings.Repeat("d/", maxFindDepth+5) + "x.yaml": {Data: []byte("x")}, strings.Repeat("e/", 200) + "x.yaml": {Data: []byte("x")}}
	found = findOne(deep, "**/*.yaml", policies.PolicyFile)
	require.Len(t, found, 2)
	require.ErrorIs(t, found[0].Err, errFindDepth)
	require.NoError(t, found[1].Err)
}

// A run's policy is what its flags would make: a preset with the lists as its caller's, or
// without one a view with the network. What takes away counts in both.
func TestOfRun(t *testing.T) {
	of := func(text, like string) *Policy {
		project, at, err := decodeProject(policies.ProjectFile, []byte("version: 1\nrun:\n  "+text))
		require.NoError(t, err)
		p, err := insideOptions{Open: true}.OfRun(project.Run, at, like)
		require.NoError(t, err)
		return p
	}
	for text, want := range map[string]struct {
		writes     []string // of src/a, .git/x and "lib[1]/a"
		net, tools bool
	}{
		"protect: [x]":                       {nil, true, false},
		"write: [src]":                       {[]string{"src/a"}, true, false},
		"write: ['lib[1]']\n  net: none":     {[]string{"lib[1]/a"}, false, false},
		"write: [src]\n  git: true":          {[]string{"src/a", ".git/x"}, true, false},
		"preset: sandboxed":                  {nil, false, false},
		"preset: worker\n  write: [src]":     {[]string{"src/a"}, false, false},
		"preset: trusted":                    {[]string{"src/a", ".git/x", "lib[1]/a"}, true, true},
		"preset: trusted\n  git: true":       {[]string{"src/a", ".git/x", "lib[1]/a"}, true, true},
		"preset: trusted\n  write: [./src/]": {[]string{"src/a"}, true, true},
		"preset: READ_ONLY\n  write: [src]":  {nil, true, true},
	} {
		p := of(text+"\n  hide: [src/key]", "")
		var writes []string
		for _, place := range []string{"src/a", ".git/x", "lib[1]/a"} {
			if file(p, access.FSWrite, place).Allowed() {
				writes = append(writes, place)
			}
		}
		require.Equal(t, want.writes, writes, text)
		require.True(t, file(p, access.FSRead, "src/a").Allowed(), text)
		require.False(t, file(p, access.FSRead, "src/key").Allowed(), text)
		require.Equal(t, want.net, p.Network().Mode == NetworkHost, text)
		require.Equal(t, want.tools, p.toolEffect("Bash") == access.Allow, text)
	}
	require.Equal(t, access.Allow, of("protect: [x]", "trusted").toolEffect("Bash"), "of tools the other preset speaks")
	require.False(t, file(of("protect: [x]", "trusted"), access.FSWrite, "src/a").Allowed(), "of files it does not")
	d := file(of("write: [src]\n  hide: [src/key]", ""), access.FSWrite, "src/key")
	require.Equal(t, "run:fs.hide[0]", d.Rule)
	require.Equal(t, access.Position{File: policies.ProjectFile, Line: 4, Column: 10}, d.Source)
}
