//go:build linux

package sandboxfs_test

import (
	"testing"

	"github.com/hanwen/go-fuse/v2/posixtest"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// The suite of go-fuse, beneath a write path.
func TestPosix(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		for name, test := range posixtest.All {
			if name == "FcntlFlockLocksFile" {
				// It wants a process to be in its own way, which no native file
				// system does; go-fuse leaves it out too. TestLocks has it right.
				continue
			}
			t.Run(name, func(t *testing.T) {
				onRoomyFS(t, name)
				f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/")
				test(t, f.in("out"))
			})
			t.Run(name+" by the walker", func(t *testing.T) {
				onRoomyFS(t, name)
				f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}, ForceWalker: true}, "out/")
				test(t, f.in("out"))
			})
		}
	})
}

// onRoomyFS puts the tree where large extended attributes find room, for the
// test that wants them: ext4 has none for 8 KiB.
func onRoomyFS(t *testing.T, test string) {
	if test == "XAttrLarge" {
		t.Setenv("TMPDIR", "/dev/shm")
	}
}
