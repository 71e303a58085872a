package integration

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// hearing is a program inside that waits for edits.
type hearing struct {
	t     *testing.T
	lines chan string
	in    io.Writer
}

// hear starts insider hear in a run.
func hear(t *testing.T, s *site, uid int, flags []string, paths ...string) *hearing {
	h := listen(t, pinfoldRun(s, uid, modes[0], append(flags, "--home", tempDir(t, uid)), append([]string{insiderPath, "hear"}, paths...)...))
	h.expect("ready")
	return h
}

func listen(t *testing.T, cmd *exec.Cmd) *hearing {
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	h := &hearing{t, make(chan string, 4096), in}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(unix.SIGTERM)
		_ = cmd.Wait()
	})
	go func() {
		defer close(h.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			h.lines <- in.Text()
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	return h
}

// expect waits for lines, in their order, and fails on one that it did not wait for.
func (h *hearing) expect(want ...string) {
	h.t.Helper()
	late := time.After(waitingLimit)
	for _, w := range want {
		select {
		case line, ok := <-h.lines:
			require.True(h.t, ok, "it ended before %q", w)
			require.Equal(h.t, w, line)
		case <-late:
			require.Fail(h.t, "nothing is heard", "%q", w)
		}
	}
}

// TestHostIsHeard: a program inside that waits for edits by inotify(7) hears of what the
// host does, in the order in which it did it, as it would without a view; in parts that
// it may write and in those that it may only read, and in no part of what is hidden.
func TestHostIsHeard(t *testing.T) {
	for _, surface := range surfaces {
		run, ok := surface.(runSurface)
		if !ok {
			continue
		}
		for name, flags := range map[string][]string{
			"read":  nil,
			"write": {"-w", "."},
			"mixed": {"-w", "d/in"},
		} {
			t.Run(run.name+"/"+name, func(t *testing.T) {
				s := newSite(t, run.uid, true)
				for _, f := range []string{"d/f", "d/in/f", "d/.env"} {
					require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(s.root, f)), 0o755))
					require.NoError(t, os.WriteFile(filepath.Join(s.root, f), []byte("1"), 0o644))
				}
				s.own()
				h := hear(t, s, run.uid, append(flags, "--hide", "**/.env"), "d", "d/in", "d/f")
				host := func(script string, args ...any) {
					cmd := exec.Command("sh", "-ec", fmt.Sprintf(script, args...))
					cmd.Dir, cmd.SysProcAttr = s.root, credential(run.uid)
					runToEnd(t, cmd)
				}
				for _, dir := range []string{"d", "d/in"} {
					host("cd %s; : > new", dir)
					h.expect(dir+" create new", dir+" close new")
					host("cd %s; echo 2 > .env; rm .env; echo 2 > .env", dir) // hidden
					host("cd %s; echo 2 >> new", dir)
					h.expect(dir+" modify new", dir+" close new")
					host("cd %s; mv new other", dir)
					h.expect(dir+" from new", dir+" to other")
					host("cd %s; mkdir sub; chmod 700 sub", dir)
					h.expect(dir+" create sub", dir+" attrib sub")
					host("cd %s; mv sub moved", dir)
					h.expect(dir+" from sub", dir+" to moved")
					host("cd %s; rmdir moved; ln -s nowhere link", dir)
					h.expect(dir+" delete moved", dir+" create link")
					// As editors save: a new file in the place of the old one.
					host("cd %s; echo 3 > f~", dir)
					h.expect(dir+" create f~", dir+" modify f~", dir+" close f~")
					host("cd %s; mv f~ f", dir)
					if dir == "d" {
						h.expect("d from f~", "d to f", "d/f attrib ") // its last name went
					} else {
						h.expect(dir+" from f~", dir+" to f")
					}
					host("cd %s; rm other link", dir)
					h.expect(dir+" delete other", dir+" delete link")
				}
				data, err := os.ReadFile(s.root + "/d/in/f")
				require.NoError(t, err)
				require.Equal(t, "3\n", string(data), "what is told to a program inside changes nothing")
				if name == "read" {
					return
				}
				// What is done inside is told once, and what another run does likewise.
				_, err = fmt.Fprintln(h.in, "d/in/f")
				require.NoError(t, err)
				h.expect("d/in modify f", "d/in close f")
				runToEnd(t, pinfoldRun(s, run.uid, modes[0], []string{"-w", "d/in", "--home", tempDir(t, run.uid)}, "sh", "-c", "echo 4 > d/in/g; mkdir d/in/last"))
				for _, line := range []string{"d/in create g", "d/in modify g", "d/in create last"} {
					h.until(line) // the server of that run opens and closes the file, too
				}
			})
		}
	}
}

// TestHostIsHeardOfAFile: of a write path that is one file, by its name and in its directory.
func TestHostIsHeardOfAFile(t *testing.T) {
	for _, surface := range surfaces {
		run, ok := surface.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			s := newSite(t, run.uid, true)
			require.NoError(t, os.Mkdir(s.root+"/d", 0o755))
			require.NoError(t, os.WriteFile(s.root+"/d/f", []byte("1"), 0o644))
			s.own()
			h := hear(t, s, run.uid, []string{"-w", "d/f"}, "d", "d/f")
			require.NoError(t, os.WriteFile(s.root+"/d/f", []byte("22"), 0o644))
			h.until("d/f modify ")
			h.until("d/f close ")
		})
	}
}

// TestReplacedFileStaysMapped: who has mapped a file that the host then replaces or removes
// keeps what it has mapped, while somebody hears of that.
func TestReplacedFileStaysMapped(t *testing.T) {
	for _, surface := range surfaces {
		run, ok := surface.(runSurface)
		if !ok {
			continue
		}
		for name, flags := range map[string][]string{"read": nil, "write": {"-w", "."}} {
			t.Run(run.name+"/"+name, func(t *testing.T) {
				s := newSite(t, run.uid, true)
				content := strings.Repeat("x", 100_000)
				for _, f := range []string{"replaced", "removed"} {
					require.NoError(t, os.WriteFile(filepath.Join(s.root, f), []byte(content), 0o644))
				}
				s.own()
				h := hear(t, s, run.uid, flags, ".", "map:replaced", "map:removed")
				require.NoError(t, os.WriteFile(s.root+"/new", []byte("y"), 0o644))
				h.until(". create new")
				require.NoError(t, os.Rename(s.root+"/new", s.root+"/replaced"))
				h.until(". to replaced")
				require.NoError(t, os.Remove(s.root+"/removed"))
				h.until(". delete removed")
				_, err := fmt.Fprintln(h.in, "mapped")
				require.NoError(t, err)
				h.until("mapped 100000 100000")
			})
		}
	}
}

// TestNodeHears: `node --watch` starts a server again when the host edits what it has read.
func TestNodeHears(t *testing.T) {
	for _, surface := range surfaces {
		run, ok := surface.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			s := newSite(t, run.uid, true)
			write := func(name, text string) {
				require.NoError(t, os.WriteFile(filepath.Join(s.root, name), []byte(text), 0o644))
			}
			write("server.js", "console.log('version', require('./part.js')); setInterval(() => {}, 1e6)")
			write("part.js", "module.exports = 1")
			s.own()
			h := listen(t, pinfoldRun(s, run.uid, modes[0], []string{"--home", tempDir(t, run.uid)}, "node", "--watch", "server.js"))
			h.until("version 1")
			// It says so before it watches what it has read.
			require.Eventually(t, func() bool {
				write("part.js", "module.exports = 2")
				select {
				case line := <-h.lines:
					return line == "version 2"
				case <-time.After(time.Second):
					return false
				}
			}, waitingLimit, time.Millisecond)
		})
	}
}

// until waits for a line.
func (h *hearing) until(want string) {
	h.t.Helper()
	late := time.After(waitingLimit)
	for {
		select {
		case line, ok := <-h.lines:
			require.True(h.t, ok, "it ended before %q", want)
			if line == want {
				return
			}
		case <-late:
			require.Fail(h.t, "nothing is heard", "%q", want)
		}
	}
}
