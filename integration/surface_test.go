package integration

import (
	"os"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/integration/cases"
	"github.com/pinfold-dev/pinfold/integration/ops"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Surface is one way to the rules.
type Surface interface {
	// Name is the surface's column in the table.
	Name() string
	// UID is who owns the tree and acts.
	UID() int
	// InView says that operations are system calls inside a mount, so that
	// refusals are errnos, not rules, and changes by the host may take until
	// the caches' bound to be seen.
	InView() bool
	// Start opens the surface over s under policy; the end of the test closes
	// it. The error is the policy's refusal.
	Start(t *testing.T, s *site, policy []string, mode string) (ops.Executor, error)
	// Unguarded does the same operations without the guard.
	Unguarded(t *testing.T, s *site) ops.Executor
}

// modes are the resolver's two ways of walking.
var modes = []string{"openat2", "walker"}

// surfaceNames are those of all surfaces, in the order of the table.
var surfaceNames = []string{
	"api", "afero", "iofs", "skills", "mcp-stdio", "mcp-http", "mount-root", "mount-user", "run-root", "run-user",
}

// surfaces are the ones that can be had by who runs; a new surface is one more
// entry here and one above.
var surfaces = func() []Surface {
	own := os.Geteuid()
	list := []Surface{
		apiSurface{own}, aferoSurface{own}, iofsSurface{own},
		skillsSurface{own}, mcpSurface{"mcp-stdio", false, own}, mcpSurface{"mcp-http", true, own},
	}
	if !isRoot {
		return append(list, runSurface{"run-user", own})
	}
	return append(list, mountSurface{"mount-root", 0}, mountSurface{"mount-user", nobody},
		runSurface{"run-root", 0}, runSurface{"run-user", nobody})
}()

// config reads the flags of a policy line, which are those of `pinfold run`,
// and those that only a document has.
func config(s *site, policy []string, mode string) pathresolver.Config {
	cfg := pathresolver.Config{Root: s.root, ForceWalker: mode == "walker"}
	for i := 0; i < len(policy); i++ {
		if policy[i] == "--git" {
			cfg.Git = true
			continue
		}
		flag, value := policy[i], policy[i+1]
		i++
		switch flag {
		case "-C":
			cfg.Root = s.root + "/" + value
		case "-w":
			cfg.WritePaths = append(cfg.WritePaths, value)
		case "--hide":
			cfg.Hide = append(cfg.Hide, value)
		case "--read":
			cfg.ReadPaths = append(cfg.ReadPaths, value)
		case "--ask-read":
			cfg.AskRead = append(cfg.AskRead, value)
		case "--ask-write":
			cfg.AskWrite = append(cfg.AskWrite, value)
		case "--protect":
			cfg.Protect = append(cfg.Protect, value)
		case "--hardlinks":
			how, err := pathresolver.ParseHardLinks(value)
			if err != nil {
				s.t.Fatal(err)
			}
			cfg.HardLinks = how
		default:
			s.t.Fatalf("unknown policy flag %q", flag)
		}
	}
	return cfg
}

// anyErrno are the errnos that inside a view stand for a rule. What lies
// outside does not exist there, or stands on a read-only file system.
var anyErrno = map[string]string{
	"hidden":            "ENOENT",
	"not_readable":      "ENOENT EROFS",
	"ask":               "EACCES",
	"no_write_path":     "EROFS",
	"protected":         "EROFS",
	"write_path_itself": "EBUSY EROFS",
	"escapes_rule":      "EACCES",
	"hard_link":         "EACCES",
	"special_file":      "EACCES EPERM ENXIO ENODEV",
	"invalid_path":      "ENOENT EINVAL ENAMETOOLONG",
	"outside_root":      "EACCES ENOENT EROFS",
	"symlink_escape":    "EACCES ENOENT EROFS",
	"magic_link":        "EACCES ENOENT EROFS",
	"mount_point":       "EACCES ENOENT EROFS EXDEV",
}

// refusedBy reports whether res is one of the refusals that a row names.
func refusedBy(res ops.Result, want cases.Outcome, inView bool) bool {
	for _, w := range want.Words {
		errnos, isRule := anyErrno[w]
		switch {
		case !isRule && res.Rule == "" && res.Errno == w:
			return true
		case isRule && !inView && res.Rule == w:
			return true
		case isRule && inView && res.Errno != "" && strings.Contains(errnos, res.Errno):
			return true
		}
	}
	return false
}
