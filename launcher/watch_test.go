//go:build linux

package launcher

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// refusals collects what a supervisor is told.
type refusals struct {
	mu   sync.Mutex
	list []sandboxfs.Refusal
}

func (r *refusals) add(one sandboxfs.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, one)
}

const toldMark = "told: "

func (r *refusals) print(w io.Writer, dropped uint64) {
	for _, one := range r.list {
		fmt.Fprintf(w, "%s%s %s %s %s %v\n", toldMark, one.Program, one.Op, one.Place, one.Rule, one.Errno)
	}
	if dropped > 0 {
		fmt.Fprintf(w, "%sdropped %d\n", toldMark, dropped)
	}
}

// told are the refusals that a supervisor printed.
func told(o outcome) (list []string) {
	for line := range strings.Lines(o.errOut) {
		if rest, ok := strings.CutPrefix(line, toldMark); ok {
			list = append(list, strings.TrimSpace(rest))
		}
	}
	return list
}

// reportTree is what the operations below act on.
func reportTree(t *testing.T, uid int) string {
	root, _ := project(t, uid)
	require.NoError(t, os.MkdirAll(root+"/src/dir", 0o755))
	require.NoError(t, os.WriteFile(root+"/src/f", []byte("text\n"), 0o644))
	require.NoError(t, os.WriteFile(root+"/src/.env", []byte("text\n"), 0o644))
	require.NoError(t, os.WriteFile(root+"/out/f", []byte("text\n"), 0o644))
	require.NoError(t, os.Symlink("../src/f", root+"/out/link"))
	require.NoError(t, os.Symlink("../src/new", root+"/out/lost"))
	require.NoError(t, os.Symlink("../src", root+"/out/ld"))
	require.NoError(t, os.Symlink("../src/f", root+"/out/link2"))
	require.NoError(t, os.Symlink("../src/f", root+"/out/link3"))
	own(t, uid, root)
	return root
}

// The report says the same whether the view is asked about everything or the
// command is watched, and says it of the same operations.
func TestWatchTellsWhatTheViewWould(t *testing.T) {
	same := []string{
		// refused
		"echo x > src/f", "echo x >> src/f", "echo x > src/new", ": <> src/f", "mkdir src/d", "mkdir -p src/a/b", "rm -f src/f",
		"rmdir src/dir", "rm -rf src/dir", "mv src/f src/g", "mv -T src/dir src/dir2", "chmod 600 src/f", "chmod 700 src", "touch src/f", "touch src/new",
		"touch -h -d @1 out/link", "touch -d @1 out/link", "ln -s x src/l", "ln src/f src/h", "truncate -s 0 src/f", "mkfifo src/p", "cp out/f src/copy",
		"echo x > $PWD/src/f", "echo x > /$PWD/src/f", "echo x > /.$PWD//src/./f", "rm -f //.$PWD/src/../src/f", "cd src; echo x > f", "cd out; echo x > ../src/f", "cd /tmp; echo x > $OLDPWD/src/f",
		"echo x > out/link", "echo x > out/lost", "echo x > out/ld/new", "rm out/ld/f", "cd out/ld; echo x > g",
		"cd src/dir; rm ../f", "cp out/f src/", "tar cf src/t.tar out/f", "(echo x > src/f) & wait", "dd if=out/f of=src/f",
		"rm -f ok.txt", "echo x > .hidden", "mkdir .git", "chmod 600 ok.txt; chmod 644 ok.txt",
		probeCall("setxattr src/f"), probeCall("fsetxattr src/f"), probeCall("lremovexattr src/f"), probeCall("fchmod src/f"), probeCall("fchown src/f"),
		probeCall("futimes src/f"), probeCall("lchown src/f"), probeCall("utime src/f"), probeCall("truncate src/f"), probeCall("tmpfile src"),
		probeCall("creat src/f"), probeCall("open-trunc src/f"), probeCall("openat2 src/f"), probeCall("exchange src/f ok.txt"), probeCall("unlinkat src f"),
		// not refused, or for another reason
		"cat src/f", "echo x > out/f", "echo x > out/new", "rm out/f", "mkdir out/d", "mv out/f out/g", "rm -f src/none", "rmdir src/none", "mkdir src",
		"mkdir -p src/dir", "chmod 600 src/none", "ln -s x src/f", "cat < src/none", "echo x > src/none/new", "echo x > src", "set -C; echo x > src/f",
		"echo x > /tmp/f", "echo x > /.$PWD/out/f", "echo x > /$PWD/src/none/f", "echo x > /usr/new", "rm out/link2", "mv out/link3 out/link4", "echo x > /dev/null", "cd out; echo x > f", "rmdir src/f",
		"cd src; echo x > ../out/f", "ls src", "chmod 600 out/f", "touch -h -d @1 out/ld", "rm -d src/f/x",
		probeCall("open-path src/f"), probeCall("open-excl src/f"), probeCall("openat2-read src/f"), probeCall("truncate src/none"), probeCall("fchmod out/f"),
		probeCall("exchange src/f src/none"),
	}
	// Each in a shell of its own on the same tree, told apart by a refused mark.
	all := ""
	for i, script := range same {
		all += "(" + script + "); mkdir src/mark" + strconv.Itoa(i) + "; rm -rf out/new out/d out/g; echo text > out/f; "
	}
	as(t, func(t *testing.T, uid int) {
		var got [2]map[string][]string
		for i, how := range []string{"ask", "watch"} {
			j := job{UID: uid, Root: reportTree(t, uid), Write: []string{"out"}, Hide: []string{"**/.env"}, Tell: how,
				Command: []string{"sh", "-c", all}}
			got[i] = map[string][]string{}
			var since []string
			for _, line := range told(run(t, j, nil)) {
				mark, ok := strings.CutPrefix(line, "mkdir create src/mark")
				if !ok {
					since = append(since, line)
					continue
				}
				number, _, _ := strings.Cut(mark, " ")
				n, err := strconv.Atoi(number)
				require.NoError(t, err)
				got[i][same[n]], since = since, nil
			}
			require.Len(t, got[i], len(same), how)
		}
		refused := 0
		for _, script := range same {
			assert.Equal(t, got[0][script], got[1][script], script)
			refused += len(got[1][script])
		}
		assert.Greater(t, refused, 50, "most of them are refused")

		// What is hidden the view itself refuses, and both tell.
		const read, create = "sh read out/.env hidden no such file or directory", "sh create out/.env hidden no such file or directory"
		for script, want := range map[string][]string{"cat < out/.env": {read}, "echo x > out/.env": {read, create}, "cat < out/f": nil} {
			for _, how := range []string{"ask", "watch"} {
				for _, dir := range []string{"out", "src"} {
					j := job{UID: uid, Root: reportTree(t, uid), Write: []string{"out"}, Hide: []string{"**/.env"}, Tell: how,
						Command: []string{"sh", "-c", strings.ReplaceAll(script, "out", dir)}}
					got := strings.Join(told(run(t, j, nil)), "\n")
					if dir == "src" { // there the kernel answers the second, with EROFS
						got = strings.ReplaceAll(strings.ReplaceAll(got, "src", "out"), "read-only file system", "no such file or directory")
					}
					assert.ElementsMatch(t, want, strings.FieldsFunc(got, func(c rune) bool { return c == '\n' }), "%s: %s in %s", how, script, dir)
				}
			}
		}

		// Between two mounts the kernel says EXDEV: the refusal is told, and what
		// the program tries then.
		for script, want := range map[string][]string{
			"mv src/f out/g": {"mv rename src/f no_write_path invalid cross-device link", "mv delete src/f no_write_path read-only file system"},
			"ln src/f out/h": {"ln link src/f no_write_path invalid cross-device link"},
			"mv out/f src/g": {"mv rename src/g no_write_path invalid cross-device link"},
		} {
			j := job{UID: uid, Root: reportTree(t, uid), Write: []string{"out"}, Tell: "watch", Command: []string{"sh", "-c", script}}
			assert.Equal(t, want, told(run(t, j, nil)), script)
		}
	})
}

func probeCall(args string) string { return insideProbe + " probe " + args }

// A view without any write path has one mount, and that is read-only.
func TestWatchWithoutWritePath(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root := reportTree(t, uid)
		got := run(t, job{UID: uid, Root: root, Tell: "watch", Command: []string{"sh", "-c", "touch out/f src/new"}}, nil)
		assert.Equal(t, []string{
			"touch write out/f no_write_path read-only file system", "touch meta out/f no_write_path read-only file system",
			"touch create src/new no_write_path read-only file system",
		}, told(got))
		got = run(t, job{UID: uid, Root: root, Write: []string{"."}, Tell: "watch", Command: []string{"touch", "out/f", "src/new"}}, nil)
		assert.Empty(t, told(got), "the same with a write path")
		assert.Zero(t, got.code)
	})
}

// A storm of writers is told of one by one, and ends.
func TestWatchedStorm(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root := reportTree(t, uid)
		n := rounds(300, 1000)
		got := run(t, job{UID: uid, Root: root, Write: []string{"out"}, Tell: "watch", Command: []string{"sh", "-c",
			"i=0; while [ $i -lt " + strconv.Itoa(n) + " ]; do i=$((i+1)); (echo $i > src/f$i; echo $i > out/f$i) 2>/dev/null & done; wait; ls out | grep -c f[0-9]"}}, nil)
		assert.Equal(t, strconv.Itoa(n), strings.TrimSpace(got.out))
		list := told(got)
		slices.Sort(list)
		assert.Len(t, slices.Compact(list), n, "each once")
	})
}

// A command that drowns what it does in other attempts does not keep from the
// caller that there was more than it was told.
func TestWhatIsDrownedIsCounted(t *testing.T) {
	const drown = "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo x > src/none/f; done 2>/dev/null; echo x 2>/dev/null > src/new; exit 0"
	dropped := func(o outcome) (n int) {
		for _, line := range told(o) {
			_, _ = fmt.Sscanf(line, "dropped %d", &n)
		}
		return n
	}
	as(t, func(t *testing.T, uid int) {
		j := job{UID: uid, Root: reportTree(t, uid), Write: []string{"out"}, Tell: "watch", Few: true, Command: []string{"sh", "-c", drown}}
		got := run(t, j, nil)
		assert.Zero(t, got.code)
		assert.Positive(t, dropped(got))
		j.Few = false
		got = run(t, j, nil)
		assert.Equal(t, []string{"sh create src/new no_write_path read-only file system"}, told(got), "the same with room for all")

		// More than a pipe holds waits for who hears of the first until the
		// keeper has given up.
		name := "src/" + strings.Repeat("./", 1000) + "f"
		j = job{UID: uid, Root: reportTree(t, uid), Write: []string{"out"}, Tell: "watch", Hang: 500 * time.Millisecond,
			Command: []string{"sh", "-c", "echo x 2>/dev/null > src/first; until [ -e out/heard ]; do :; done; i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo x > " + name + "; done 2>/dev/null; exit 0"}}
		require.NoError(t, os.WriteFile(j.Root+"/out/heard", nil, 0o666))
		got = run(t, j, nil)
		assert.Len(t, told(got), 201)
		assert.Zero(t, dropped(got))
		j.Slow = true
		require.NoError(t, os.Remove(j.Root+"/out/heard"))
		got = run(t, j, nil)
		assert.Zero(t, got.code)
		assert.Less(t, len(told(got)), 201)
		assert.Positive(t, dropped(got))
	})
}

// Whoever answers for the listener dies, and everything inside with it,
// while watched calls are under way.
func TestWatchedKill(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		for _, victim := range []string{"supervisor", "set-up helper"} {
			root := reportTree(t, uid)
			cmd := started(t, job{UID: uid, Root: root, Write: []string{"out"}, Tell: "watch",
				Command: []string{"sh", "-c", "touch out/ready; while :; do echo x > src/f; echo x > out/f; done 2>/dev/null"}})
			pids := family(cmd.Process.Pid)
			require.NotEmpty(t, pids)
			pid := cmd.Process.Pid
			if victim == "set-up helper" {
				pid = pids[0]
				name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
				require.NoError(t, err)
				require.Contains(t, string(name), setupName)
			}
			require.NoError(t, unix.Kill(pid, unix.SIGKILL))
			eventually(t, "all processes are gone", func() bool { return noneAlive(pids) })
			_ = cmd.Wait()
			data, err := os.ReadFile(root + "/src/f")
			require.NoError(t, err)
			assert.Equal(t, "text\n", string(data))
		}
	})
}

// A supervisor that hangs is not told, and keeps nobody.
func TestWatchedHang(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root := reportTree(t, uid)
		cmd := started(t, job{UID: uid, Root: root, Write: []string{"out"}, Tell: "watch", Hang: 2 * time.Second,
			Command: []string{"sh", "-c", "touch out/ready; while :; do echo x > src/f; echo x > out/link; done 2>/dev/null"}})
		hang(t, cmd)
	})
}

// A run inside a run cannot watch, and says so beforehand, but in one that is for that.
func TestCanWatch(t *testing.T) {
	require.True(t, CanWatch())
	require.True(t, CanWatch(), "asking leaves no trace")
	root, _ := project(t, os.Getuid())
	for _, c := range []struct {
		tell   string
		nested bool
		want   string
	}{{"", false, "false\n"}, {"", true, "true\n"}, {"watch", true, "false\n"}} {
		got := run(t, job{Root: root, Tell: c.tell, Nested: c.nested, Command: []string{insideProbe, "supervise", `{"CanWatch":true}`}}, nil)
		assert.Equal(t, c.want, got.out, "%q: %s", c.tell, got.errOut)
	}
}

// An answer that a signal interrupted is sent again, one that is too late is not.
func TestAnswerIsNotLostToASignal(t *testing.T) {
	for _, last := range []unix.Errno{0, unix.ENOENT} {
		list := []unix.Errno{unix.EINTR, unix.EINTR, last, unix.EBADF}
		calls := 0
		got := uninterrupted(func() unix.Errno { calls++; return list[calls-1] })
		assert.Equal(t, last, got)
		assert.Equal(t, 3, calls)
	}
}

// A listener that cannot be served is the end of everything inside; that
// everybody has left is not.
func TestListenerThatBreaks(t *testing.T) {
	for name, broken := range map[string]bool{"/dev/null": true, "": false} {
		w, err := newWatcher(t.TempDir())
		require.NoError(t, err)
		ours, theirs, err := channelPair()
		require.NoError(t, err)
		if name != "" {
			fd, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
			require.NoError(t, err)
			require.NoError(t, send(theirs, message{Verb: sayWatch}, fd))
			unix.Close(fd)
		}
		unix.Close(theirs)
		assert.Equal(t, broken, w.serve(ours) != nil, name)
		for _, fd := range []int{w.proc, w.tree} {
			unix.Close(fd)
		}
		if w.listener > 0 {
			unix.Close(w.listener)
		}
	}
}

func TestWatchFilter(t *testing.T) {
	prog := watchFilter(true)
	const allow, tell = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_USER_NOTIF
	for _, c := range watchedCalls {
		args := make([]uint64, 6)
		if c.does == doesOpen && c.flags != none {
			args[c.flags] = unix.O_WRONLY
		}
		assert.EqualValues(t, tell, decide(t, prog, c.nr, auditArch, args...), "call %d", c.nr)
		assert.EqualValues(t, allow, decide(t, prog, c.nr, unix.AUDIT_ARCH_I386, args...), "the other filter refuses it")
	}
	for _, c := range []struct {
		flags uint64
		want  uint32
	}{
		{unix.O_RDONLY | unix.O_CLOEXEC, allow}, {unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW, allow}, {1 << 32, allow},
		{unix.O_RDWR, tell}, {unix.O_CREAT, tell}, {unix.O_TRUNC, tell}, {unix.O_TMPFILE | unix.O_RDWR, tell}, {unix.O_ACCMODE, tell},
	} {
		assert.EqualValues(t, c.want, decide(t, prog, unix.SYS_OPENAT, auditArch, 0, 0, c.flags), "%x", c.flags)
	}
	for _, nr := range []uint32{unix.SYS_READ, unix.SYS_EXECVE, unix.SYS_SENDMSG, unix.SYS_IOCTL, unix.SYS_READLINKAT} {
		assert.EqualValues(t, allow, decide(t, prog, nr, auditArch), "call %d", nr)
	}
}

// What is read from a caller is bounded, and ends where its memory does.
func TestCallerMemory(t *testing.T) {
	page := os.Getpagesize()
	two, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(two)) })
	require.NoError(t, unix.Mprotect(two[page:], unix.PROT_NONE))
	c := caller{tid: os.Getpid(), buf: make([]byte, unix.PathMax)}
	text := func(at int) (string, bool) { return c.text(uint64(uintptr(unsafe.Pointer(&two[0]))) + uint64(at)) }

	copy(two[page-4:], "abc\x00")
	got, ok := text(page - 4)
	assert.True(t, ok)
	assert.Equal(t, "abc", got, "up to the last byte that can be read")
	two[page-1] = 'd'
	_, ok = text(page - 4)
	assert.False(t, ok, "no end in what can be read")
	_, ok = text(page)
	assert.False(t, ok, "nothing can be read")
	_, ok = c.text(1 << 62)
	assert.False(t, ok)

	require.NoError(t, unix.Mprotect(two[page:], unix.PROT_READ|unix.PROT_WRITE))
	copy(two, strings.Repeat("x", 2*page))
	_, ok = text(10)
	assert.False(t, ok, "longer than a path can be")
	two[10+unix.PathMax-1] = 0
	got, ok = text(10)
	assert.True(t, ok)
	assert.Len(t, got, unix.PathMax-1)
}
