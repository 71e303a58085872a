//go:build linux

package sandboxfs_test

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// A file HEAD makes a directory a repository to git on the host, and is not made
// where another file would lead git elsewhere. Both made at the same time are not
// let through either.
func TestGitRepositoryMadeAtOnce(t *testing.T) {
	f := mount(t, sandboxfs.Options{SingleConnection: true}, pathresolver.Config{WritePaths: []string{"out"}}, "out/")
	for n := range 2000 {
		dir := "out/" + itoa(n)
		require.NoError(t, os.MkdirAll(f.in(dir+"/objects/info"), 0o755))
		var wg sync.WaitGroup
		start := make(chan struct{})
		for _, name := range []string{"/HEAD", "/objects/info/alternates"} {
			wg.Go(func() {
				<-start
				if made, err := os.OpenFile(f.in(dir+name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
					made.Close()
				}
			})
		}
		close(start)
		wg.Wait()
		require.NotEqual(t, exists(f.on(dir+"/HEAD")), exists(f.on(dir+"/objects/info/alternates")), "one of them, and not both")
	}
}
