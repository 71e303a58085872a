package gitrepo

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkInspect measures what a start pays for an ordinary repository with
// the configuration that git lfs and husky write.
func BenchmarkInspect(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	require.NoError(b, err)
	for _, args := range [][]string{
		{"init", "-q"}, {"config", "core.hooksPath", ".husky/_"},
		{"config", "filter.lfs.clean", "git-lfs clean -- %f"}, {"config", "filter.lfs.smudge", "git-lfs smudge -- %f"},
		{"config", "filter.lfs.process", "git-lfs filter-process"}, {"remote", "add", "origin", "https://example.com/x.git"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		require.NoError(b, cmd.Run())
	}
	env := HostEnvironment()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Inspect(dir, env); err != nil {
			b.Fatal(err)
		}
	}
}
