//go:build linux

package launcher

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExitCodes(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		for _, c := range []struct {
			code    int
			command []string
		}{
			{0, []string{"true"}},
			{7, []string{"sh", "-c", "exit 7"}},
			{127, []string{"no-such-command"}},
			{127, []string{"./missing"}},
			{126, []string{"./ok.txt"}},
			{126, []string{"/etc"}},
			{143, []string{"sh", "-c", "kill -TERM $$"}},
			{137, []string{"sh", "-c", "kill -KILL $$"}},
		} {
			got := run(t, job{UID: uid, Root: root, Command: c.command}, nil)
			assert.Equal(t, c.code, got.code, "%q: %s", c.command, got.errOut)
		}
	})
}

func TestSetupFailureRunsNothing(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, outside := project(t, uid)
		mark := []string{"sh", "-c", "echo ran > out/mark"}
		fails := map[string]job{
			"no such directory":  {Dir: "/no/such/dir"},
			"no such --ro":       {RO: []string{"/no/such/thing"}},
			"--ro in project":    {RO: []string{root + "/out"}},
			"no such --home":     {Home: outside + "/none"},
			"home holds project": {Home: filepath.Dir(root)},
		}
		if uid != 0 {
			fails["--user as a user"] = job{User: "root"}
		}
		for name, j := range fails {
			j.UID, j.Root, j.Write, j.Command = uid, root, []string{"out"}, mark
			got := run(t, j, nil)
			assert.Equal(t, ExitSetup, got.code, name)
			assert.Contains(t, got.errOut, "error: ", name)
			assert.NoFileExists(t, root+"/out/mark", name)
		}
		// With nothing wrong it runs.
		got := run(t, job{UID: uid, Root: root, Write: []string{"out"}, Command: mark}, nil)
		assert.Equal(t, 0, got.code, got.errOut)
		assert.FileExists(t, root+"/out/mark")
	})
}

func TestReadsAndWrites(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, outside := project(t, uid)
		sh := func(write []string, script string) outcome {
			return run(t, job{UID: uid, Root: root, Write: write, Command: []string{"sh", "-c", script}}, nil)
		}
		got := sh([]string{"out"}, "cat ok.txt; echo new > out/n; cat out/n; pwd")
		assert.Equal(t, outcome{0, "ok\nnew\n" + root + "\n", ""}, got)
		data, err := os.ReadFile(root + "/out/n")
		require.NoError(t, err)
		assert.Equal(t, "new\n", string(data))

		refused := "echo bad > ok.txt"
		assert.Contains(t, sh([]string{"out"}, refused).errOut, "Read-only file system")
		assert.Equal(t, 0, sh([]string{"."}, refused).code, "the same with a wider write path")

		assert.Contains(t, sh(nil, "cat "+outside+"/secret").errOut, "No such file")
		assert.Contains(t, sh(nil, "cat ../outside/secret").errOut, "No such file")
		for _, dir := range []string{"/", "/usr", "/etc", "/var", "/run", "/dev", filepath.Dir(root), "/proc/sys"} {
			got := sh([]string{"."}, "echo x > "+dir+"/pinfold-test")
			assert.Regexp(t, "Read-only file system|nonexistent|No such file|Permission denied", got.errOut, dir)
			assert.NotZero(t, got.code, dir)
		}
		for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "$HOME"} {
			assert.Zero(t, sh(nil, "echo x > "+dir+"/pinfold-test").code, dir)
		}
		assert.NoFileExists(t, "/tmp/pinfold-test")
	})
}

func TestEnvironmentIsAnAllowlist(t *testing.T) {
	root, _ := project(t, os.Getuid())
	t.Setenv("PINFOLD_TEST_SECRET", "hunter2")
	t.Setenv("PINFOLD_TEST_WANTED", "yes")
	t.Setenv("LC_ALL", "C.UTF-8")
	out := run(t, job{Root: root, Write: []string{"out"}, Env: []string{"PINFOLD_TEST_WANTED", "MORE=1=2"}, Command: []string{"env"}}, nil).out
	assert.NotContains(t, out, "hunter2")
	for _, want := range []string{"PINFOLD_TEST_WANTED=yes", "MORE=1=2", "LC_ALL=C.UTF-8", "TMPDIR=/tmp", "PWD=" + root,
		"PINFOLD_ROOT=" + root, "PINFOLD_WRITE_PATHS=" + root + "/out", "GIT_DISCOVERY_ACROSS_FILESYSTEM=1"} {
		assert.Contains(t, strings.Split(out, "\n"), want)
	}
}

func TestBytesOfArgumentsSurvive(t *testing.T) {
	root, _ := project(t, os.Getuid())
	odd := "a\xff\n\x1b[0m"
	// The job itself travels as JSON here, so the bytes are made inside.
	got := run(t, job{Root: root, Command: []string{"sh", "-c", `printf 'a\377\n\033[0m'`}}, nil)
	assert.Equal(t, odd, got.out)
}

func TestStreamsAreRelayed(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		big := make([]byte, 5<<20)
		_, err := rand.Read(big)
		require.NoError(t, err)
		got := run(t, job{UID: uid, Root: root, Command: []string{"cat"}}, bytes.NewReader(big))
		assert.Equal(t, 0, got.code)
		assert.True(t, got.out == string(big), "5 MiB come back as they went in")

		// What was read ahead from a file is given back.
		file := filepath.Join(t.TempDir(), "lines")
		require.NoError(t, os.WriteFile(file, []byte("one\ntwo\nthree\n"), 0o600))
		in, err := os.Open(file)
		require.NoError(t, err)
		defer in.Close()
		got = run(t, job{UID: uid, Root: root, Command: []string{"head", "-c", "4"}}, in)
		assert.Equal(t, "one\n", got.out)
		rest := make([]byte, 4)
		_, err = in.Read(rest)
		require.NoError(t, err)
		assert.Equal(t, "two\n", string(rest))

		// Nobody reads the output any more: SIGPIPE inside.
		cmd := exec.Command("sh", "-c", `"$0" supervise "$1" | head -n 1`, shared.binary(t),
			`{"Root":"`+root+`","Command":["yes"]}`)
		out, err := cmd.Output()
		require.NoError(t, err)
		assert.Equal(t, "y\n", string(out))
	})
}

func TestDirectoryAsStreamIsRefused(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		dir, err := os.Open("/")
		require.NoError(t, err)
		defer dir.Close()
		got := run(t, job{UID: uid, Root: root, Command: []string{"ls", "/proc/self/fd/0/"}}, dir)
		assert.Equal(t, ExitSetup, got.code)
		assert.Contains(t, got.errOut, "standard input is a directory")
		// Unguarded, that lists the host's root.
		ls := exec.Command("ls", "/proc/self/fd/0/")
		ls.Stdin = dir
		out, err := ls.Output()
		require.NoError(t, err)
		assert.Contains(t, string(out), "proc")
	})
}

func TestBackgroundProcesses(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		j := job{UID: uid, Root: root, Write: []string{"out"},
			Command: []string{"sh", "-c", "(while [ ! -e out/go ]; do :; done; echo late > out/late) & touch out/go; exit 3"}}
		j.Background = true
		assert.Equal(t, 3, run(t, j, nil).code)
		assert.FileExists(t, root+"/out/late")

		j.Background = false
		j.Command = []string{"sh", "-c", "sleep 1000 & exit 4"}
		assert.Equal(t, 4, run(t, j, nil).code, "does not wait for sleep")
	})
}

func TestUser(t *testing.T) {
	if os.Getuid() != 0 {
		got := run(t, job{UID: os.Getuid(), Root: t.TempDir(), User: "root", Command: []string{"true"}}, nil)
		assert.Equal(t, ExitSetup, got.code)
		return
	}
	root, _ := project(t, 65534)
	got := run(t, job{Root: root, Write: []string{"out"}, User: "nobody", Command: []string{"sh", "-c", "id -u; id -G; echo x > out/n; cat /dev/stdin; echo $USER"}}, strings.NewReader("in\n"))
	assert.Equal(t, outcome{0, "65534\n65534\nin\nnobody\n", ""}, got)
	st, err := os.Stat(root + "/out/n")
	require.NoError(t, err)
	assert.EqualValues(t, 65534, statOf(st).Uid, "a new file belongs to the user")
}

func TestHomeAndReadOnly(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, outside := project(t, uid)
		home, tool := filepath.Join(outside, "home"), filepath.Join(outside, "tool")
		require.NoError(t, os.MkdirAll(home, 0o755))
		require.NoError(t, os.MkdirAll(tool, 0o755))
		require.NoError(t, os.WriteFile(tool+"/hello", []byte("#!/bin/sh\necho hello from $HOME\n"), 0o755))
		require.NoError(t, os.Symlink(tool, outside+"/link"))
		own(t, uid, outside)
		// The home's own path inside is that of the user's home.
		at := "/home/ordinary"
		if uid == os.Getuid() {
			at = os.Getenv("HOME")
		}
		got := run(t, job{UID: uid, Root: root, Home: home, RO: []string{outside + "/link"},
			Command: []string{"sh", "-c", outside + "/link/hello; " + tool + "/hello; echo kept > " + at + "/file; echo x > " + tool + "/hello"}}, nil)
		assert.Equal(t, strings.Repeat("hello from "+at+"\n", 2), got.out)
		assert.Contains(t, got.errOut, "Read-only file system")
		assert.FileExists(t, home+"/file")
		// Nothing beside it is shown, nor itself at another path.
		got = run(t, job{UID: uid, Root: root, Home: home, Command: []string{"cat", outside + "/secret"}}, nil)
		assert.Equal(t, 1, got.code)
		got = run(t, job{UID: uid, Root: root, Home: home, Command: []string{"ls", home}}, nil)
		assert.NotZero(t, got.code)
	})
}

// What is shown in the home lies in it, also where the home kept from run to
// run has no such directory yet, and what --ro names of that is read-only.
func TestHomeHoldsWhatIsShownThere(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		base, home := project(t, uid)
		user := filepath.Join(base, "user") // the home outside
		root, tool := filepath.Join(user, "code/p"), filepath.Join(user, ".local/share/tool")
		require.NoError(t, os.MkdirAll(root, 0o755))
		require.NoError(t, os.MkdirAll(tool, 0o755))
		require.NoError(t, os.WriteFile(user+"/.gitconfig", []byte("real\n"), 0o644))
		require.NoError(t, os.WriteFile(user+"/private", []byte("real\n"), 0o644))
		require.NoError(t, os.WriteFile(root+"/f", []byte("project\n"), 0o644))
		require.NoError(t, os.Mkdir(home+"/.cred", 0o755))
		require.NoError(t, os.WriteFile(home+"/.cred/key", []byte("key\n"), 0o644))
		own(t, uid, filepath.Dir(base))
		j := job{UID: uid, Root: root, Home: home, RO: []string{tool, user + "/.gitconfig", home + "/.cred"}, UserHome: user,
			Command: []string{"sh", "-c", "cd; pwd; cat .gitconfig code/p/f .cred/key; ls .local/share; ls private; echo kept >> file; cat file;" +
				"echo x > code/p/f; echo x > .gitconfig; echo x > .local/share/tool/x; echo x > .cred/key; rm -rf .cred"}}
		for _, kept := range []string{"kept\n", "kept\nkept\n"} {
			got := run(t, j, nil)
			assert.Equal(t, user+"\nreal\nproject\nkey\ntool\n"+kept, got.out, got.errOut)
			assert.GreaterOrEqual(t, strings.Count(got.errOut, "Read-only file system"), 5, got.errOut)
			assert.Contains(t, got.errOut, "private")
		}
		// A link that an agent left in its home leads a mount nowhere else.
		require.NoError(t, os.RemoveAll(home+"/.local"))
		require.NoError(t, os.Symlink(base, home+"/.local"))
		got := run(t, j, nil)
		assert.Equal(t, ExitSetup, got.code)
		assert.Contains(t, got.errOut, "set up dir "+user+"/.local/share: not a directory", "what the set-up helper failed at")
		assert.NoDirExists(t, base+"/share")
	})
}

// The command gets the caller's limits, not those that the supervisor gave
// itself.
func TestLimitsAreTheCallers(t *testing.T) {
	root, _ := project(t, os.Getuid())
	cmd := supervisor(t, job{UID: os.Getuid(), Root: root, Command: []string{"sh", "-c", "ulimit -Sn; umask"}})
	cmd.Args = []string{"sh", "-c", `ulimit -Sn 1000; umask 027; exec "$0" supervise "$1"`, cmd.Path, cmd.Args[2]}
	cmd.Path = "/bin/sh"
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, "1000\n0027\n", string(out))
}
