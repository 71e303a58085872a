//go:build linux

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// selfRunning is a file that an agent leaves, and the operator's own program that
// runs it afterwards, outside, unasked.
type selfRunning struct {
	file    string
	text    string
	prepare string // by the operator, before the run
	program string // by the operator, after it
}

// The programs are told where to find a configuration that an operator may have.
var plantings = []selfRunning{
	{file: ".exrc", text: "silent! !touch acted",
		prepare: "mkdir -p ../home && echo 'set exrc' > ../home/.vimrc",
		program: "HOME=$PWD/../home exec vim -T dumb -n +qa! x </dev/null >/dev/null 2>&1"},
	{file: "sub/.vimrc", text: "silent! !touch ../acted",
		prepare: "mkdir -p ../home && echo 'set exrc' > ../home/.vimrc",
		program: "cd sub && HOME=$PWD/../../home exec vim -T dumb -n +qa! x </dev/null >/dev/null 2>&1"},
	{file: ".husky/pre-commit", text: "#!/bin/sh\ntouch acted",
		prepare: "git init -q && git config user.name o && git config user.email o@x && git config core.hooksPath .husky && mkdir .husky && git add x && git commit -qm one",
		program: "chmod +x .husky/* 2>/dev/null; echo more >> x && git add x && git commit -qm two"},
}

// TestPlantedFilesDoNotAct runs the real programs as the operator does, after a
// run that tried to leave something for them. Written without the guard the
// same file acts.
func TestPlantedFilesDoNotAct(t *testing.T) {
	uids := []int{os.Geteuid()}
	if isRoot {
		uids = append(uids, nobody)
	}
	for _, uid := range uids {
		for _, p := range plantings {
			for _, guard := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/uid %d/guard %v", strings.ReplaceAll(p.file, "/", "_"), uid, guard), func(t *testing.T) {
					at := newSite(t, uid, true)
					require.NoError(t, os.MkdirAll(filepath.Join(at.root, "sub"), 0o755))
					require.NoError(t, os.WriteFile(filepath.Join(at.root, "x"), []byte("x\n"), 0o644))
					at.own()
					require.NoError(t, os.Chmod(at.base, 0o755))
					operator := func(script string) {
						cmd := asUser(uid, modes[0], "/bin/sh", "-c", script)
						cmd.Dir = at.root
						out, err := cmd.CombinedOutput()
						require.NoError(t, err, "%s: %s", script, out)
					}
					if isRoot && uid != 0 {
						require.NoError(t, os.Chown(at.base, uid, uid))
					}
					operator(p.prepare)
					plant := fmt.Sprintf("mkdir -p \"$(dirname '%s')\"; printf '%%s\\n' '%s' > '%s'", p.file, p.text, p.file)
					if guard {
						cmd := pinfoldRun(at, uid, modes[0], []string{"-w", "."}, "/bin/sh", "-c", plant)
						cmd.Dir = at.root
						out, err := cmd.CombinedOutput()
						require.Error(t, err, "%s", out)
						require.Contains(t, string(out), "Read-only file system")
					} else {
						operator(plant)
					}
					operator(p.program)
					_, err := os.Lstat(filepath.Join(at.root, "acted"))
					require.Equal(t, guard, os.IsNotExist(err), "%s: acted: %v", p.file, err == nil)
					if guard {
						fmt.Printf("[table] files that run by themselves: %-18s uid %-5d refused; without the guard it ran\n", p.file, uid)
					}
				})
			}
		}
	}
}
