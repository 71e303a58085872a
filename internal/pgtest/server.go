//go:build unix

package pgtest

import (
	"context"
	_ "embed" // server.sh
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// startWithin is far beyond what a start takes on a busy machine; it only turns
// a hang into a failure.
const startWithin = 60 * time.Second

//go:embed server.sh
var script string

// server is a running PostgreSQL and the shell that owns it.
type server struct {
	dir   string
	shell *exec.Cmd
	pipe  io.WriteCloser // closed, or a word for server.sh
}

// start makes a cluster in a directory and waits until it answers.
func start(in string) (*server, error) {
	s, err := launch(in)
	if err != nil {
		return nil, err
	}
	if err := s.ready(); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		return nil, errors.Join(fmt.Errorf("%w; its log:\n%s", err, log), s.stop())
	}
	return s, nil
}

// launch starts the shell that makes a cluster in a directory, "" for that of
// temporary ones, and starts the server.
func launch(in string) (*server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(in, "pgtest-")
	if err != nil {
		return nil, err
	}
	// Setsid: what ends the test from the terminal must not end the shell before
	// it has cleaned up.
	attr := &syscall.SysProcAttr{Setsid: true}
	if os.Getuid() == 0 {
		cred, err := servant()
		if err != nil {
			return nil, errors.Join(err, os.Remove(dir))
		}
		if err := os.Chown(dir, int(cred.Uid), int(cred.Gid)); err != nil {
			return nil, errors.Join(err, os.Remove(dir))
		}
		attr.Credential = cred
	}
	cmd := exec.Command("/bin/sh", "-c", script, "server.sh", dir, bin)
	cmd.Dir, cmd.SysProcAttr = dir, attr
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	return &server{dir: dir, shell: cmd, pipe: pipe}, nil
}

// ready waits until the server takes connections.
func (s *server) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.dsn())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("postgresql did not start within %v: %w", startWithin, err)
		}
	}
}

// crash ends the server as a power cut would, and waits until it has recovered.
func (s *server) crash() error {
	log, err := os.Stat(filepath.Join(s.dir, "crashes"))
	var before int64
	if err == nil {
		before = log.Size()
	}
	if _, err := io.WriteString(s.pipe, "crash\n"); err != nil {
		return err
	}
	for end := time.Now().Add(startWithin); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if now, err := os.Stat(filepath.Join(s.dir, "crashes")); err == nil && now.Size() > before {
			return s.ready()
		}
	}
	return errors.New("postgresql did not end")
}

// stop ends the server and waits until nothing is left of it.
func (s *server) stop() error {
	return errors.Join(s.pipe.Close(), s.shell.Wait())
}

// dsn is how to connect as the server's owner.
func (s *server) dsn() string {
	return fmt.Sprintf("host=%s user=pinfold dbname=postgres", s.dir)
}

// programs is the directory with initdb and postgres; Debian keeps it out of
// PATH. The newest version counts.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path)
		return filepath.Dir(path), err
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", errors.New("no initdb in PATH or /usr/lib/postgresql: the tests need the package postgresql")
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

// servant is whom root runs the server as.
func servant() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("postgresql refuses to run as root, and there is neither a user postgres nor nobody")
}
