package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Bounds of what `pinfold check` takes for what somebody else wrote. The promise
// is a third of the time, which is the program's own and not that of a busy
// machine around it; the test leaves room for the slowest.
const (
	checkTime   = 3 * time.Second
	checkMemory = 100 << 10 // KiB
)

// hostileProjects are what a pull request can bring: files by name, and what
// check has to say.
func hostileProjects() map[string]struct {
	files map[string]string
	says  string
} {
	type project = struct {
		files map[string]string
		says  string
	}
	policy := func(hide string) string { return "version: 1\nextends: sandboxed\nfs:\n  hide: [" + hide + "]\n" }
	list := func(n int, shape string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, shape+",", i)
		}
		return b.String()
	}
	named := "version: 1\ncheck: {policies: [p.yaml]}\n"
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.Repeat("*"+string(c-1)+",", 9))
	}
	many := map[string]string{
		".pinfold.yaml": "version: 1\ncheck:\n  policies: [" + list(9000, "p%d?a/x?") + "\"p*/*.yaml\"]\n",
	}
	for i := range 300 {
		many[fmt.Sprintf("p%d/%s.yaml", i, strings.Repeat("a", 200))] = policy(`"` + strings.Repeat("*a", 1500) + `"`)
	}
	return map[string]project{
		"26 braces":       {map[string]string{".pinfold.yaml": named, "p.yaml": policy(`"` + strings.Repeat("{a,aa}", 26) + `z"`)}, "p.yaml:4:10: error[bad_value]"},
		"26 nested":       {map[string]string{".pinfold.yaml": named, "p.yaml": policy(`"` + strings.Repeat("{a,", 26) + "x" + strings.Repeat("}", 26) + `"`)}, "p.yaml:4:10: error[bad_value]"},
		"braces in names": {map[string]string{".pinfold.yaml": "version: 1\ncheck: {agents: [\"" + strings.Repeat("{a,aa}", 26) + "z\"]}\n", strings.Repeat("a", 60): "x"}, ".pinfold.yaml:2:18: error[bad_value]"},
		"10,000 globs":    {map[string]string{".pinfold.yaml": named, "p.yaml": policy(list(9900, "s%d/x?"))}, "ok: "},
		"a YAML bomb":     {map[string]string{".pinfold.yaml": named, "p.yaml": bomb}, "p.yaml:1:4: error[syntax]"},
		"deep YAML":       {map[string]string{".pinfold.yaml": named, "p.yaml": strings.Repeat("[", 19_000)}, "error[too_deep]"},
		"many keys":       {map[string]string{".pinfold.yaml": named, "p.yaml": strings.Repeat("k: v\n", 50_000)}, "error[too_large]"},
		"a long line":     {map[string]string{".pinfold.yaml": named, "p.yaml": "a: " + strings.Repeat("b ", 5<<20)}, "error[too_large]"},
		"many of all":     {many, "covers no policy"},
	}
}

// TestBoundedCheck: what check takes for a hostile pull request is bounded, and
// what is wrong is said with its place. The control is the matcher that tries
// the alternatives of braces one within the other, whose time doubles with each.
func TestBoundedCheck(t *testing.T) {
	for _, surface := range surfaces {
		run, ok := surface.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			for name, p := range hostileProjects() {
				s := newSite(t, run.uid, false)
				for file, text := range p.files {
					at := filepath.Join(s.root, file)
					require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
					require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
				}
				require.NoError(t, os.Symlink(".", s.root+"/again"))
				require.NoError(t, unix.Mkfifo(s.root+"/fifo.yaml", 0o644))
				s.own()
				cmd := asUser(run.uid, modes[0], pinfold, "check", "-C", s.root)
				cmd.Dir = s.root
				var out strings.Builder
				cmd.Stdout, cmd.Stderr = &out, &out
				require.NoError(t, cmd.Start())
				peak := watched(cmd.Process.Pid)
				_ = cmd.Wait() // the status is that of what was found
				require.Contains(t, out.String(), p.says, name)
				took, most := cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), <-peak
				fmt.Printf("[table] check of %s, %s: %d ms, %d MiB\n", name, run.name, took.Milliseconds(), most>>10)
				require.Less(t, took, checkTime, name)
				require.Less(t, most, checkMemory, name)
			}
			require.Greater(t, tried(18), 8*tried(12), "the matcher without the guard takes more than eight times as long for six braces more")
			tableRow(t, "braces", run.name)
		})
	}
}

// TestBoundedSearch: a search by an agent's glob ends at once.
func TestBoundedSearch(t *testing.T) {
	input := map[string]any{"pattern": strings.Repeat("{a,aa}", 26) + "z"}
	for _, user := range users() {
		s := newSite(t, user.uid, true)
		s.files(map[string]string{"root/" + strings.Repeat("a", 60): ""})
		text, err := json.Marshal(input)
		require.NoError(t, err)
		out := printed(t, asUser(user.uid, modes[0], pinfold, "skill", "call", "-C", s.root, "glob", string(text)))
		require.Contains(t, out, "braces that stand for more than 1000 names")
		tableRow(t, "braces-search", surfaceOf("skills", user.uid))

		session, err := connect(t, asUser(user.uid, modes[0], pinfold, "mcp", "-C", s.root), false)
		require.NoError(t, err)
		_, err = callTool(session, "glob", input)
		require.ErrorContains(t, err, "braces that stand for more than 1000 names")
		tableRow(t, "braces-search", surfaceOf("mcp", user.uid))
	}
	require.Greater(t, tried(18), 8*tried(12), "the matcher without the guard takes more than eight times as long for six braces more")
}

// watched gives the most memory that a process has had, in KiB, once it has
// ended. What wait4 says would be that of this process, whose memory a child has
// until it executes a program.
func watched(pid int) <-chan int {
	peak := make(chan int, 1)
	go func() {
		most := 0
		for {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, rest, ok := strings.Cut(string(status), "VmHWM:")
			if err != nil || !ok {
				break
			}
			now := 0
			_, _ = fmt.Sscan(rest, &now)
			most = max(most, now)
			runtime.Gosched()
		}
		peak <- most
	}()
	return peak
}

// tried is the time of the processor that doublestar takes for so many braces.
func tried(braces int) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
			panic(err)
		}
		return time.Duration(ts.Nano())
	}
	begin := now()
	_, _ = doublestar.Match(strings.Repeat("{a,aa}", braces)+"z", strings.Repeat("a", 60))
	return now() - begin
}
