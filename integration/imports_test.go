package integration

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/pinfold-dev/pinfold/"

// mayImport is the table of docs/architecture.md: who may import what, beside
// the standard library. What is not in it may import nothing. pflag is cobra's
// own flags; psx is how go-landlock says something for all threads, which with
// cgo syscall.AllThreadsSyscall cannot.
var mayImport = map[string][]string{
	"access":                          {},
	"internal/egress":                 {},
	"internal/gateway":                {"internal/confine", "internal/egress", "golang.org/x/net", "golang.org/x/sys", "gvisor.dev/gvisor"},
	"internal/fsat":                   {"golang.org/x/sys"},
	"internal/cgroup":                 {"github.com/godbus/dbus/v5", "golang.org/x/sys"},
	"internal/confine":                {"github.com/landlock-lsm/go-landlock", "kernel.org/pub/linux/libs/security/libcap/psx", "golang.org/x/sys"},
	"internal/didyoumean":             {},
	"internal/gitshare":               {"access", "internal/gitrepo", "pathresolver"},
	"internal/httpguard":              {},
	"internal/gitrepo":                {"internal/fsat", "golang.org/x/sys"},
	"internal/helper":                 {},
	"internal/globs":                  {"golang.org/x/text"},
	"internal/gitindex":               {"golang.org/x/text"},
	"internal/mask":                   {"github.com/goccy/go-yaml"},
	"internal/policies":               {"access", "pathresolver"},
	"internal/resolved":               {"access", "internal/trusted"},
	"internal/trusted":                {"internal/globs"},
	"internal/hostpath":               {"access", "internal/fsat", "golang.org/x/sys"},
	"pathresolver":                    {"access", "internal/fsat", "internal/gitindex", "internal/gitrepo", "internal/globs", "internal/resolved", "internal/trusted", "golang.org/x/sys"},
	"pathresolver/aferofs":            {"pathresolver", "github.com/spf13/afero"},
	"fileskills":                      {"access", "pathresolver", "internal/didyoumean", "internal/globs", "internal/resolved", "github.com/google/jsonschema-go", "github.com/go-json-experiment/json", "github.com/aymanbagabas/go-udiff", "github.com/gofrs/flock", "golang.org/x/text"},
	"fileskills/skilltest":            {"access", "fileskills", "pathresolver", "github.com/spf13/afero", "github.com/stretchr/testify"},
	"permission":                      {"access", "pathresolver", "internal/didyoumean", "internal/egress", "internal/globs", "internal/policies", "internal/resolved", "internal/trusted", "github.com/goccy/go-yaml"},
	"fileskills/mcpserver":            {"access", "fileskills", "internal/httpguard", "github.com/modelcontextprotocol/go-sdk", "github.com/go-json-experiment/json"},
	"sandboxfs/internal/fuseconn":     {"internal/fsat", "github.com/hanwen/go-fuse/v2", "golang.org/x/sys"},
	"sandboxfs":                       {"access", "pathresolver", "sandboxfs/internal/fuseconn", "internal/fsat", "internal/helper", "internal/mask", "internal/resolved", "github.com/hanwen/go-fuse/v2", "golang.org/x/sys"},
	"launcher":                        {"access", "pathresolver", "sandboxfs", "internal/cgroup", "internal/confine", "internal/helper", "internal/hostpath", "internal/resolved", "github.com/landlock-lsm/go-landlock", "golang.org/x/sys"},
	"broker":                          {"internal/policies", "access", "permission", "pathresolver", "github.com/go-json-experiment/json"},
	"broker/internal/rows":            {"broker", "github.com/go-json-experiment/json"},
	"broker/brokerhttp":               {"access", "broker", "permission", "internal/httpguard", "internal/policies", "github.com/go-json-experiment/json", "golang.org/x/sys"},
	"broker/storetest":                {"access", "broker", "permission", "github.com/stretchr/testify"},
	"broker/sqlitestore":              {"broker", "broker/internal/rows", "modernc.org/sqlite"},
	"broker/pgstore":                  {"broker", "broker/internal/rows", "github.com/jackc/pgx/v5"},
	"broker/otelaudit":                {"access", "broker", "permission", "go.opentelemetry.io/proto/otlp", "google.golang.org/protobuf"},
	"internal/pgtest":                 {"github.com/jackc/pgx/v5", "github.com/stretchr/testify"},
	"cmd/pinfold/internal/claudecode": {"access", "permission"},
	"cmd/pinfold/internal/shellshape": {"mvdan.cc/sh/v3"},
	"cmd/pinfold/internal/agenttools": {"access", "permission", "pathresolver", "fileskills", "fileskills/mcpserver", "broker", "broker/brokerhttp"},

	// Parts of the command.
	"cmd/pinfold/internal/caches":        {"internal/fsat", "golang.org/x/mod", "golang.org/x/sys"},
	"cmd/pinfold/internal/proposal":      {"access", "pathresolver", "internal/resolved", "permission", "fileskills", "broker", "broker/brokerhttp", "github.com/go-json-experiment/json"},
	"cmd/pinfold/internal/keyburst":      {},
	"cmd/pinfold/internal/launchprofile": {"internal/didyoumean", "internal/hostpath", "github.com/goccy/go-yaml"},
	"cmd/pinfold/internal/learned":       {"access", "sandboxfs", "github.com/stretchr/testify"},
	"cmd/pinfold/internal/leftover":      {"access", "internal/gitrepo", "internal/hostpath", "internal/resolved", "internal/trusted", "pathresolver", "sandboxfs"},
	"cmd/pinfold/internal/tuiinbox":      {"cmd/pinfold/internal/cli", "cmd/pinfold/internal/keyburst", "pathresolver", "broker", "broker/brokerhttp", "charm.land/bubbletea/v2", "github.com/charmbracelet/colorprofile", "github.com/charmbracelet/x/ansi"},
	"cmd/pinfold/internal/webinbox":      {"access", "broker", "broker/brokerhttp", "permission", "pathresolver", "internal/httpguard"},
}

// commandMayImport is the same for the command: "cli" is cmd/pinfold/internal/cli. A
// package of what users type (run, check, policy, project, agents, approvals, skills,
// mount, leftlog) imports no other of them but what runs left.
var commandMayImport = map[string][]string{
	"cmd/pinfold":      {"cli", "cli/agents", "cli/approvals", "cli/cache", "cli/check", "cli/learn", "cli/leftlog", "cli/mount", "cli/policy", "cli/project", "cli/run", "cli/runs", "cli/skills", "github.com/spf13/cobra"},
	"cli":              {"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys", "golang.org/x/term", "internal/didyoumean", "pathresolver"},
	"cli/agents":       {"access", "permission", "broker", "broker/brokerhttp", "broker/otelaudit", "cli", "cli/brokerclient", "cli/brokerhost", "cli/hostfile", "cli/inside", "cli/localnet", "cli/policyflag", "cli/state", "cmd/pinfold/internal/proposal", "cmd/pinfold/internal/webinbox", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys", "pathresolver"},
	"cli/approvals":    {"access", "broker", "broker/brokerhttp", "cli", "cli/brokerclient", "cli/inside", "cmd/pinfold/internal/tuiinbox", "github.com/spf13/cobra", "pathresolver", "permission"},
	"cli/approver":     {"access", "broker", "broker/brokerhttp", "cli", "cli/brokerhost", "cli/child", "cli/hostfile", "cmd/pinfold/internal/keyburst", "cmd/pinfold/internal/webinbox", "golang.org/x/sys", "internal/helper", "launcher", "pathresolver", "internal/resolved"},
	"cli/brokerclient": {"broker", "broker/brokerhttp", "cli", "cli/state", "github.com/spf13/cobra", "pathresolver"},
	"cli/brokerhost":   {"broker", "broker/brokerhttp", "broker/pgstore", "broker/sqlitestore", "cli", "cli/child", "cli/gitbeside", "cli/hostfile", "cli/localnet", "cli/policyflag", "cli/skillask", "cli/viewhost", "cmd/pinfold/internal/webinbox", "fileskills", "github.com/goccy/go-yaml", "internal/didyoumean", "internal/hostpath", "pathresolver", "permission"},
	"cli/cache":        {"cli", "cli/hostfile", "cli/state", "cmd/pinfold/internal/caches", "github.com/spf13/cobra", "pathresolver"},
	"cli/check":        {"access", "cli", "cli/gitbeside", "cli/hostfile", "cli/policyflag", "cli/projectfile", "github.com/spf13/cobra", "github.com/spf13/pflag", "internal/gitshare", "internal/trusted", "internal/policies", "pathresolver", "permission"},
	"cli/child":        {"golang.org/x/sys"},
	"cli/clitest":      {"access", "broker", "broker/brokerhttp", "broker/sqlitestore", "cmd/pinfold/internal/leftover", "cmd/pinfold/internal/proposal", "github.com/santhosh-tekuri/jsonschema/v6", "github.com/stretchr/testify", "internal/trusted", "permission"},
	"cli/gitbeside":    {"access", "cli", "internal/gitrepo", "internal/gitshare", "launcher", "pathresolver", "internal/resolved", "sandboxfs"},
	"cli/hostfile":     {"cli", "cli/state", "cmd/pinfold/internal/launchprofile", "internal/hostpath", "pathresolver"},
	"cli/inside":       {"cli", "cli/gitbeside", "golang.org/x/sys", "pathresolver", "internal/resolved"},
	"cli/learn":        {"access", "cli", "cli/child", "cli/hostfile", "cmd/pinfold/internal/learned", "github.com/spf13/cobra", "golang.org/x/sys", "internal/hostpath", "internal/policies", "pathresolver"},
	"cli/leftlog":      {"cli", "cli/state", "cmd/pinfold/internal/leftover", "github.com/spf13/cobra", "internal/didyoumean", "internal/hostpath", "pathresolver"},
	"cli/live":         {"cli", "cli/state", "golang.org/x/sys", "launcher", "pathresolver"},
	"cli/localnet":     {"cli"},
	"cli/mount":        {"cli", "cli/child", "cli/hostfile", "cli/leftlog", "cli/policyflag", "cli/state", "cli/viewhost", "github.com/spf13/cobra", "golang.org/x/sys", "internal/confine", "internal/helper", "internal/hostpath", "launcher", "pathresolver", "sandboxfs"},
	"cli/policy":       {"access", "broker", "broker/brokerhttp", "cli", "cli/gitbeside", "cli/hostfile", "cli/inside", "cli/policyflag", "cli/projectfile", "github.com/spf13/cobra", "internal/didyoumean", "internal/egress", "internal/trusted", "internal/policies", "pathresolver", "internal/hostpath", "internal/resolved", "permission"},
	"cli/policyflag":   {"access", "broker/brokerhttp", "cli", "cli/hostfile", "cli/projectfile", "github.com/spf13/cobra", "github.com/spf13/pflag", "internal/didyoumean", "internal/trusted", "internal/policies", "pathresolver", "permission"},
	"cli/project":      {"cli", "cli/hostfile", "cli/inside", "cli/projectfile", "cmd/pinfold/internal/launchprofile", "github.com/spf13/cobra", "golang.org/x/sys", "internal/hostpath", "internal/policies", "launcher", "pathresolver"},
	"cli/projectfile":  {"access", "cli/hostfile", "cli/state", "golang.org/x/sys", "internal/hostpath", "internal/policies", "permission"},
	"cli/run":          {"access", "broker", "broker/brokerhttp", "cli", "cli/approver", "cli/brokerclient", "cli/brokerhost", "cli/child", "cli/gitbeside", "cli/hostfile", "cli/inside", "cli/leftlog", "cli/live", "cli/policyflag", "cli/projectfile", "cli/state", "cli/viewhost", "internal/policies", "cmd/pinfold/internal/caches", "cmd/pinfold/internal/launchprofile", "cmd/pinfold/internal/learned", "cmd/pinfold/internal/leftover", "cmd/pinfold/internal/proposal", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys", "internal/egress", "internal/gateway", "internal/gitrepo", "internal/hostpath", "launcher", "pathresolver", "internal/resolved", "permission", "sandboxfs"},
	"cli/runs":         {"cli", "cli/hostfile", "cli/inside", "cli/live", "github.com/spf13/cobra", "launcher", "pathresolver"},
	"cli/skillask":     {"access", "broker", "broker/brokerhttp", "cli/policyflag", "fileskills", "pathresolver", "permission"},
	"cli/skills":       {"access", "broker/brokerhttp", "cmd/pinfold/internal/agenttools", "cmd/pinfold/internal/claudecode", "cli", "cli/brokerclient", "cli/hostfile", "cli/inside", "cli/localnet", "cli/policyflag", "cli/skillask", "cli/state", "cmd/pinfold/internal/shellshape", "fileskills", "fileskills/mcpserver", "github.com/spf13/cobra", "internal/confine", "internal/didyoumean", "internal/policies", "pathresolver", "internal/resolved", "permission"},
	"cli/state":        {"broker/brokerhttp", "cli/inside", "golang.org/x/sys"},
	"cli/viewhost":     {"access", "broker", "broker/brokerhttp", "cmd/pinfold/internal/leftover", "pathresolver", "permission", "sandboxfs"},
}

func init() {
	full := func(name string) string {
		if rest, ok := strings.CutPrefix(name, "cli"); ok && (rest == "" || rest[0] == '/') {
			return "cmd/pinfold/internal/cli" + rest
		}
		return name
	}
	for name, list := range commandMayImport {
		for i := range list {
			list[i] = full(list[i])
		}
		mayImport[full(name)] = list
	}
}

// free are the packages of tests and measurements, which join everything.
var free = []string{"integration"}

// TestImports holds the table true for every operating system we build for.
func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, pkg := range list(t, goos) {
			name := strings.TrimPrefix(pkg.ImportPath, module)
			if isFree(name) {
				continue
			}
			allowed, known := mayImport[name]
			require.True(t, known, "%s is not in the import table", name)
			seen[name] = true
			for _, imp := range pkg.Imports {
				assert.True(t, covered(imp, allowed), "%s (%s) must not import %s", name, goos, imp)
			}
		}
	}
	for name := range mayImport {
		require.True(t, seen[name], "%s is in the import table but does not exist", name)
	}
}

// TestImportsCanFail shows that the rule refuses what it is there to refuse.
func TestImportsCanFail(t *testing.T) {
	require.False(t, covered(module+"sandboxfs", mayImport["pathresolver"]))
	require.False(t, covered("github.com/spf13/aferoplane", mayImport["pathresolver/aferofs"]))
	require.True(t, covered("golang.org/x/text/cases", mayImport["internal/globs"]))
	require.True(t, covered("internal/syscall/unix", nil))
}

// TestImportsModules holds that make checks every module of the repository.
func TestImportsModules(t *testing.T) {
	var modules []string
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.Name() == "go.mod" {
			modules = append(modules, filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), "../")))
		}
		return err
	}))
	makefile, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	checked := regexp.MustCompile(`(?m)^MODULES := (.*)$`).FindStringSubmatch(string(makefile))
	require.NotNil(t, checked)
	modules[slices.Index(modules, "..")] = "."
	require.ElementsMatch(t, modules, strings.Fields(checked[1]))
}

type listed struct {
	ImportPath string
	Imports    []string
	GoFiles    []string
}

func list(t *testing.T, goos string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,GoFiles", "./...")
	cmd.Dir = ".."
	cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	require.NoError(t, err)
	var pkgs []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		require.NoError(t, dec.Decode(&p))
		pkgs = append(pkgs, p)
	}
	require.NotEmpty(t, pkgs)
	return pkgs
}

func isFree(name string) bool {
	return slices.ContainsFunc(free, func(f string) bool { return name == f || strings.HasPrefix(name, f+"/") })
}

// covered reports whether imp is standard or beneath one of allowed.
func covered(imp string, allowed []string) bool {
	own, isOurs := strings.CutPrefix(imp, module)
	if !isOurs && !strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") {
		return true
	}
	return slices.ContainsFunc(allowed, func(a string) bool {
		return own == a || !isOurs && (imp == a || strings.HasPrefix(imp, a+"/"))
	})
}
