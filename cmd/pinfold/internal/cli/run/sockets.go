package run

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// socketsDir holds the sockets of --socket that are given no place inside.
const socketsDir = "/run/pinfold/sockets"

// socketFlags are sockets of the host's programs that the command may connect to.
type socketFlags struct {
	given []string // NAME, or PATH[:INSIDE]

	found []shownSocket // what resolve made of them
}

// shownSocket is one of them.
type shownSocket struct {
	told     string // as messages call it
	outside  string // absolute
	inside   string
	variable string // of the environment, KEY=VALUE, which names it; "" for none
	danger   string // what whoever reaches it can do; "" for nothing in particular
}

func (s *socketFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.given, "socket", nil, "let CMD connect to a unix socket of yours: `NAME|PATH[:INSIDE]`; NAME is ssh-agent, gpg-agent or docker, INSIDE a path beneath /run (repeatable)")
	_ = cmd.RegisterFlagCompletionFunc("socket", cobra.FixedCompletions([]string{"ssh-agent", "gpg-agent", "docker"}, cobra.ShellCompDirectiveDefault))
}

// resolve finds the sockets. It decides nothing about what lies at their paths: the
// launcher opens them.
func (s *socketFlags) resolve(root string, env []string) error {
	if len(s.given) == 0 {
		return nil
	}
	path, err := hostpath.Resolve(root)
	if err != nil {
		return err
	}
	for _, given := range s.given {
		found, err := findSocketNamed(given, path.Real)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(s.found, func(other shownSocket) bool { return other.inside == found.inside }) {
			return cli.UsageError(fmt.Errorf("--socket: two are shown at '%s'", found.inside), "PATH:INSIDE says where one is")
		}
		key, _, _ := strings.Cut(found.variable, "=")
		if key != "" && slices.ContainsFunc(env, func(kv string) bool { return kv == key || strings.HasPrefix(kv, key+"=") }) {
			return cli.UsageError(fmt.Errorf("--socket %s sets %s, and so does --env", given, key), "leave --env "+key+" out")
		}
		s.found = append(s.found, found)
	}
	return nil
}

// findSocketNamed finds the socket of one flag.
func findSocketNamed(given, root string) (shownSocket, error) {
	switch given {
	case "ssh-agent":
		at := os.Getenv("SSH_AUTH_SOCK")
		if !filepath.IsAbs(at) {
			return shownSocket{}, cli.UsageError(errors.New("--socket ssh-agent: SSH_AUTH_SOCK names no socket"), "eval \"$(ssh-agent)\" and ssh-add start one")
		}
		inside := socketsDir + "/ssh-agent"
		return checked(shownSocket{told: given, outside: at, inside: inside, variable: "SSH_AUTH_SOCK=" + inside}, root)
	case "gpg-agent":
		at := gpgSocket()
		if at == "" {
			return shownSocket{}, cli.UsageError(errors.New("--socket gpg-agent: there is no S.gpg-agent.extra, the agent's socket for others"), "gpgconf --launch gpg-agent starts the agent")
		}
		return checked(shownSocket{told: given, outside: at, inside: filepath.Join(gpgDir(), "S.gpg-agent")}, root)
	case "docker":
		s, err := checked(shownSocket{told: given, outside: dockerSocket(), inside: "/run/docker.sock", variable: "DOCKER_HOST=unix:///run/docker.sock"}, root)
		s.danger = hostfile.DangerOfContainers // whatever the file is called
		return s, err
	}
	at, inside, placed := strings.Cut(given, ":")
	if at == "" || !strings.Contains(at, "/") {
		return shownSocket{}, cli.UsageError(cli.UnknownWord("socket", given, "ssh-agent", "gpg-agent", "docker"), "a path has a slash: ./NAME")
	}
	abs, err := filepath.Abs(at)
	if err != nil {
		return shownSocket{}, err
	}
	if !placed {
		inside = path.Join(socketsDir, filepath.Base(abs))
	} else if own, _ := hostpath.Beneath(inside, "/run/pinfold"); path.Clean(inside) != inside || !strings.HasPrefix(inside, "/run/") || own != "" || strings.HasPrefix(inside+"/", launcher.SecretsDir+"/") {
		return shownSocket{}, cli.UsageError(fmt.Errorf("--socket: '%s' is no place for a socket inside", pathresolver.EscapePath(inside)), "name a path beneath /run, but for /run/pinfold and "+launcher.SecretsDir)
	}
	return checked(shownSocket{told: at, outside: abs, inside: inside}, root)
}

// checked finds where a socket lies, refuses one that would make the command its own
// operator, and says what one is that leads out of the run. A link in the project, or
// where a run could write, is not followed out of there.
func checked(s shownSocket, root string) (shownSocket, error) {
	real, err := hostfile.Real("--socket", s.outside, root)
	if err != nil {
		return s, err
	}
	if real == "" {
		return s, nil // the launcher says why
	}
	s.outside = real
	own, err := hostfile.IsPrivate(real, state.Private())
	if err != nil {
		return s, err
	}
	if own {
		return s, cli.UsageError(fmt.Errorf("--socket: '%s' is pinfold's own: whoever reaches it could answer for you", pathresolver.EscapePath(s.told)), "a hired agent has a way to its broker by itself")
	}
	s.danger = hostfile.SocketDanger(real)
	return s, nil
}

// gpgSocket is where gpg-agent listens for programs of other machines, which may sign and
// decrypt but neither export keys nor change how it works (gpg-agent(1), extra-socket).
func gpgSocket() string {
	var dirs []string
	if home := os.Getenv("GNUPGHOME"); home != "" {
		dirs = append(dirs, home)
	} else {
		dirs = append(dirs, gpgDir())
		if home, err := os.UserHomeDir(); err == nil {
			dirs = append(dirs, filepath.Join(home, ".gnupg"))
		}
	}
	for _, dir := range dirs {
		at := filepath.Join(dir, "S.gpg-agent.extra")
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSocket != 0 && filepath.IsAbs(at) {
			return at
		}
	}
	return ""
}

// gpgDir is where gpg looks for its agent first.
func gpgDir() string { return filepath.Join("/run/user", strconv.Itoa(os.Geteuid()), "gnupg") }

// socketThere reports whether what a project's file names is on this machine.
func socketThere(given string) bool {
	switch given {
	case "ssh-agent":
		return exists(os.Getenv("SSH_AUTH_SOCK"))
	case "gpg-agent":
		return gpgSocket() != ""
	case "docker":
		return exists(dockerSocket())
	}
	at, _, _ := strings.Cut(given, ":")
	return exists(at)
}

// dockerSocket is where docker's clients connect.
func dockerSocket() string {
	if at, found := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://"); found {
		return at
	}
	return "/var/run/docker.sock"
}

// warn says loudly what leads out of the run, also to who wants no hints.
func (s *socketFlags) warn(o *cli.Output) {
	for _, socket := range s.found {
		if socket.danger != "" {
			o.Warning(fmt.Sprintf("--socket %s %s", socket.told, socket.danger))
		}
	}
}

// names are the sockets, as they are told.
func (s *socketFlags) names() (list []string) {
	for _, socket := range s.found {
		list = append(list, pathresolver.EscapePath(socket.told))
	}
	return list
}

// into shows them.
func (s *socketFlags) into(c *launcher.Config) {
	for _, socket := range s.found {
		if c.Sockets == nil {
			c.Sockets = map[string]string{}
		}
		c.Sockets[socket.inside] = socket.outside
		if socket.variable != "" {
			c.Env = append(c.Env, socket.variable)
		}
	}
}
