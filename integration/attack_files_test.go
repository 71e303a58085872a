package integration

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAttackHardLink: a file beneath the write path has another name that is
// not. Removing the first must not make the second one writable, although it
// is then the only one.
func TestAttackHardLink(t *testing.T) {
	for _, name := range []string{"removed", "replaced"} {
		t.Run(name, attack{
			name: name, policy: []string{"-w", "work"},
			files: map[string]string{"src/f": "kept", "work/mine": "mine"},
			links: map[string]string{"src/f": "work/h"},
		}.run)
	}
}

// TestAttackReadOnlyFile tries each way to change a file that may be read,
// with the kernel in front of the rules and with the rules alone.
func TestAttackReadOnlyFile(t *testing.T) {
	for name, policy := range map[string][]string{
		"split": {"-w", "work"},
		"rules": {"-w", "work", "--report", "/dev/null"},
	} {
		t.Run(name, attack{
			name: "change", policy: policy,
			files: map[string]string{"src/f": "kept", "work/f": "mine"},
		}.run)
	}
}

// TestAttackNone: what is allowed works, also as the first thing of all.
func TestAttackNone(t *testing.T) {
	for _, s := range surfaces {
		if run, ok := s.(runSurface); ok {
			t.Run(run.name, func(t *testing.T) {
				a := attack{name: "first", policy: []string{"-w", "work"}, files: map[string]string{"work/first": ""}}
				s := a.site(t, run.uid)
				a.inside(t, s)
				require.NoFileExists(t, filepath.Join(s.root, "work", "first"))
			})
		}
	}
}
