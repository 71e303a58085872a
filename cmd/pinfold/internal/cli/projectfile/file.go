package projectfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/permission"
)

// MaxSize is how many bytes are read as a .pinfold.yaml.
const MaxSize = 1 << 20

// File is a project's .pinfold.yaml, as it was read once: Sum is of the bytes that
// Project was made of.
type File struct {
	Name    string // as messages show it
	Dir     string // the project, absolute and without links
	Sum     string // SHA-256, in hexadecimal digits
	Project policies.Project
	At      func(part string) access.Position

	id string // of the directory: another one in its place has another
}

// Read reads the file of the project at root, nil where there is none. It follows no
// link out of the project, and waits for no FIFO. One that cannot be understood is an
// error, since nobody could say what it hides.
func Read(root string) (*File, error) {
	at, err := hostpath.Resolve(root)
	if err != nil {
		return nil, nil // whoever opens the project says why
	}
	f := &File{Name: hostfile.Display(filepath.Join(root, policies.ProjectFile)), Dir: at.Real}
	data, err := f.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, hostfile.Named(f.Name, err)
	}
	sum := sha256.Sum256(data)
	f.Sum = hex.EncodeToString(sum[:])
	if f.Project, f.At, err = policies.DecodeProject(f.Name, data); err != nil && !NamesNothing(err) {
		return nil, err
	}
	return f, nil
}

// NamesNothing reports whether all that is wrong with a .pinfold.yaml is that it
// names no file to check, yet. It is understood for all that.
func NamesNothing(err error) bool {
	var e *permission.DocumentError
	return errors.As(err, &e) && !slices.ContainsFunc(e.Problems, func(p permission.Problem) bool {
		return p.Code != "missing_key" || p.Path != "check"
	})
}

// read reads the file and the directory's identity through one handle on the
// directory.
func (f *File) read() ([]byte, error) {
	project, err := hostfile.OpenProject(f.Dir)
	if err != nil {
		return nil, err
	}
	defer project.Close()
	if _, err := project.Stat(policies.ProjectFile); err != nil {
		return nil, err // also of a link that leads out
	}
	dir, err := project.Root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // only looked at
	if f.id, err = identity(dir); err != nil {
		return nil, err
	}
	file, err := project.Root.OpenFile(policies.ProjectFile, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return readBounded(file, MaxSize)
}

// readBounded reads a regular file that is not too long, and closes it.
func readBounded(file *os.File, limit int64) ([]byte, error) {
	defer func() { _ = file.Close() }() // was only read
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: file.Name(), Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &fs.PathError{Op: "read", Path: file.Name(), Err: fmt.Errorf("longer than %d bytes", limit)}
	}
	return data, err
}

// Expand is a path of the host that the file names, in this user's home where it begins
// with ~/; "" where there is no home.
func Expand(path string) string {
	rest, inHome := strings.CutPrefix(path, "~/")
	if !inHome {
		return filepath.Clean(path)
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, rest)
}

// Widens is, in plain words, what a trusted file opens to a run that would otherwise
// write nothing and see nothing of the host but the project and the system.
func Widens(run *policies.ProjectRun) []string {
	if run == nil {
		return nil
	}
	var list []string
	say := func(what string, words ...string) {
		if len(words) > 0 {
			list = append(list, what+strings.Join(words, ", "))
		}
	}
	say("may write, in the project: ", run.Write...)
	if run.Git != nil && *run.Git {
		list = append(list, "may commit, under your name: writes .git, but not its hooks and configuration")
	}
	var ro []string
	for _, path := range run.RO {
		ro = append(ro, described(path))
	}
	say("reads, of your files outside the project: ", ro...)
	if run.Home != "" {
		say("reads and writes, as its home: ", described(run.Home))
	}
	say("reads, of your caches, those of: ", run.Cache...)
	var env []string
	for _, name := range run.Env {
		if _, set := os.LookupEnv(name); !set {
			name += " (not set now)"
		}
		env = append(env, name)
	}
	if l := run.Limits; l != nil && l.PIDs > policies.LeastPIDs {
		say("may have processes and threads, at once: ", strconv.Itoa(l.PIDs))
	}
	say("is given your variables: ", env...)
	say("is given secrets, as variables, from files: ", run.Secrets...)
	say("is given secrets, as files, from files: ", run.SecretFiles...)
	var sockets []string
	for _, entry := range run.Sockets {
		at, _, _ := strings.Cut(entry, ":")
		if entry == "docker" {
			at = "docker.sock"
		}
		if real, err := filepath.EvalSymlinks(Expand(at)); err == nil {
			at = real
		}
		if danger := hostfile.SocketDanger(at); danger != "" {
			entry += " (which " + danger + ")"
		}
		sockets = append(sockets, entry)
	}
	say("connects to sockets of your programs: ", sockets...)
	say("uses devices: ", run.Devices...)
	say("connects to these hosts, and no others: ", run.AllowHost...)
	if run.Preset != "" {
		say("is held to what this preset allows: ", run.Preset)
	}
	return list
}

// described is a path of the host, with a word about one that holds more than it seems.
func described(path string) string {
	if HoldsHome(path) {
		return path + " (all of your home, with its keys and tokens)"
	}
	return path
}

// HoldsHome reports whether a path of the host is this user's home, or above it.
func HoldsHome(path string) bool {
	at, home := Expand(path), Expand("~/")
	_, above := hostpath.Beneath(home, at)
	return at == home || home != "" && at != "" && above
}

// Narrows is, in plain words, what the file takes away, trusted or not.
func (f *File) Narrows() []string {
	run := f.Project.Run
	if run == nil {
		return nil
	}
	var list []string
	if len(run.Hide) > 0 {
		list = append(list, "does not see: "+strings.Join(run.Hide, ", "))
	}
	if len(run.Mask) > 0 {
		list = append(list, "reads with stand-ins for the values: "+strings.Join(run.Mask, ", "))
	}
	if len(run.Protect) > 0 {
		list = append(list, "never writes: "+strings.Join(run.Protect, ", "))
	}
	if run.Write != nil && len(run.Write) == 0 {
		list = append(list, "writes nothing")
	}
	if run.Git != nil && !*run.Git {
		list = append(list, "does not commit")
	}
	switch {
	case run.Net == "none":
		list = append(list, "has no network")
	case run.Net != "" || run.AllowHost != nil:
		list = append(list, "connects to no hosts but those that a trusted file lists")
	}
	return list
}
