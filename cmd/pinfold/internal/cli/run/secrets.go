package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/projectfile"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Bounds on a secret, in bytes. A variable counts against what execve(2) takes.
const (
	maxSecretVariable = 64 << 10
	maxSecretFile     = 1 << 20
)

// secretFlags pass values on that nothing else than the command sees: neither the
// command line, nor what is told, recorded or listed of the run.
type secretFlags struct {
	variables, files []string // NAME=FILE

	// What read found.
	values, contents map[string]launcher.Secret // by their names
	sources          []string                   // where they lie, without links
}

func (s *secretFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&s.variables, "secret", nil, "give CMD the variable NAME with what FILE holds, which nothing that is told or recorded shows: `NAME=FILE` (repeatable)")
	flags.StringArrayVar(&s.files, "secret-file", nil, "show CMD what FILE holds as "+launcher.SecretsDir+"/NAME, likewise: `NAME=FILE` (repeatable)")
}

// given reports whether there are any.
func (s *secretFlags) given() bool { return len(s.variables)+len(s.files) > 0 }

// read reads all of them, once. env are the variables of --env, whose names are refused.
func (s *secretFlags) read(o *cli.Output, root string, env []string, quiet bool) (err error) {
	if !s.given() {
		return nil
	}
	if s.values, err = s.readAll(o, "--secret", s.variables, root, maxSecretVariable, quiet); err != nil {
		return err
	}
	if s.contents, err = s.readAll(o, "--secret-file", s.files, root, maxSecretFile, quiet); err != nil {
		return err
	}
	total := 0
	for _, list := range []map[string]launcher.Secret{s.values, s.contents} {
		for _, value := range list {
			total += len(value)
		}
	}
	if total > launcher.MaxSecrets {
		return cli.UsageError(fmt.Errorf("the secrets have %d bytes together, and at most %d are passed on", total, launcher.MaxSecrets), "")
	}
	for name, value := range s.values {
		if bytes.IndexByte(value, 0) >= 0 {
			return cli.UsageError(fmt.Errorf("--secret %s: its file holds a NUL byte, which no variable can", name), "--secret-file "+name+"=FILE passes any bytes on")
		}
		if value = bytes.TrimSuffix(value, []byte("\n")); len(value) == 0 {
			return cli.UsageError(fmt.Errorf("--secret %s: its file is empty", name), "")
		}
		s.values[name] = value
		if slices.ContainsFunc(env, func(kv string) bool { return kv == name || strings.HasPrefix(kv, name+"=") }) {
			return cli.UsageError(fmt.Errorf("%s is named by --secret and by --env", name), "leave one of them out")
		}
	}
	return nil
}

// readAll reads the files of one flag.
func (s *secretFlags) readAll(o *cli.Output, flag string, list []string, root string, limit int64, quiet bool) (map[string]launcher.Secret, error) {
	found := map[string]launcher.Secret{}
	for _, entry := range list {
		name, file, ok := strings.Cut(entry, "=")
		if !ok || file == "" {
			// What stands there may be the value itself, which is not repeated.
			return nil, cli.UsageError(fmt.Errorf("%s wants NAME=FILE", flag), "the value stands in FILE, and not on the command line, which every user of this machine can read")
		}
		if err := launcher.CheckSecretName(name); err != nil {
			return nil, cli.UsageError(fmt.Errorf("%s: %w", flag, err), "")
		}
		if _, twice := found[name]; twice {
			return nil, cli.UsageError(fmt.Errorf("%s names %s twice", flag, name), "leave one of them out")
		}
		if strings.HasPrefix(file, "~/") {
			file = projectfile.Expand(file) // shells do it there or not
		}
		value, at, open, err := readSecret(flag, file, root, limit)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG) {
			// It may be the value itself.
			return nil, cli.UsageError(fmt.Errorf("%s %s: there is no such file", flag, name), "the value stands in FILE, and not on the command line, which every user of this machine can read")
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", flag, name, err)
		}
		if found[name] = value; !slices.Contains(s.sources, at) {
			s.sources = append(s.sources, at)
			if open && !quiet {
				o.Hint(fmt.Sprintf("the mode of '%s' lets every user read it: chmod 600 keeps it yours", pathresolver.EscapePath(file)))
			}
		}
	}
	return found, nil
}

// readSecret reads a file once, through the descriptor that was looked at. at is where it
// lies, and open says that everybody can read it. A link that somebody else may have made,
// in the project or where a run could write, is not followed.
func readSecret(flag, file, root string, limit int64) (value launcher.Secret, at string, open bool, err error) {
	real, err := hostpath.Resolve(root)
	if err != nil {
		return nil, "", false, err
	}
	f, err := hostfile.Open(flag, file, os.O_RDONLY|syscall.O_NONBLOCK, 0, real.Real)
	if err != nil {
		return nil, "", false, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, "", false, err
	}
	if !info.Mode().IsRegular() {
		return nil, "", false, cli.UsageError(fmt.Errorf("'%s' is not a regular file", pathresolver.EscapePath(file)), "write the value into a file that only you can read")
	}
	if at, err = pathOf(f); err != nil {
		return nil, "", false, err
	}
	value, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(value)) > limit {
		err = fmt.Errorf("'%s' has more than %d bytes", pathresolver.EscapePath(file), limit)
	}
	return value, at, info.Mode().Perm()&0o004 != 0, err
}

// names are the variables and files, sorted, as they are told.
func (s *secretFlags) names() (list []string) {
	list = slices.Sorted(maps.Keys(s.values))
	for _, name := range slices.Sorted(maps.Keys(s.contents)) {
		list = append(list, launcher.SecretsDir+"/"+name)
	}
	return list
}

// given is what the command has of the host beside files, by the flags that named it.
func (f *runFlags) given() (list []string) {
	for _, of := range []struct {
		what  string
		names []string
	}{{"secret ", f.secrets.names()}, {"socket ", f.sockets.names()}, {"device ", f.devices}} {
		for _, name := range of.names {
			list = append(list, of.what+name)
		}
	}
	return list
}

// tellHost says in one line what the command has of the host beside files.
func (f *runFlags) tellHost(o *cli.Output) {
	if names := f.secrets.names(); len(names) > 0 {
		o.Stderr.Printf("pinfold: secrets, as the command alone has them: %s\n", listed(names))
	}
	if names := f.sockets.names(); len(names) > 0 {
		o.Stderr.Printf("pinfold: sockets of yours that it can connect to: %s\n", listed(names))
	}
	if len(f.devices) > 0 {
		o.Stderr.Printf("pinfold: devices of the host that it can use: %s\n", pathresolver.EscapePath(listed(f.devices)))
	}
}

// into passes them on. Their files are shown by nothing else.
func (s *secretFlags) into(c *launcher.Config) {
	c.Secrets, c.SecretFiles = s.values, s.contents
	c.Private = slices.Concat(c.Private, s.sources)
}
