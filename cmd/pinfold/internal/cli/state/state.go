package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
)

// BrokerDir is where a broker of this user keeps its sockets and, by default,
// its database.
func BrokerDir() (string, error) {
	base, err := Base()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "pinfold", "broker"), nil
}

// Base is where programs of this user keep state, by the XDG Base
// Directory Specification where it applies.
func Base() (string, error) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return os.UserConfigDir()
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home := os.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("neither $XDG_STATE_HOME nor $HOME names a directory")
	}
	return filepath.Join(home, ".local", "state"), nil
}

// RunsDir is where the brokers of runs keep their state. A home that is not
// there is not made for them.
func RunsDir() (string, error) {
	base, err := Base()
	if err == nil && !filepath.IsAbs(os.Getenv("XDG_STATE_HOME")) {
		_, err = os.Stat(os.Getenv("HOME"))
	}
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "pinfold", "runs"), nil
}

// RunTime is how the name of a run's directory begins.
const RunTime = "20060102T150405Z"

// StartOf is when the run began whose directory has this name.
func StartOf(name string) (time.Time, error) {
	stamp, _, found := strings.Cut(name, "-")
	if !found {
		return time.Time{}, errors.New("no run has such a name")
	}
	return time.Parse(RunTime, stamp)
}

// Private are the directories with what pinfold itself keeps for this user:
// the databases of its brokers, their sockets and tokens, and the user's own launch
// profiles. No agent is ever shown one: it could answer its own requests there, or say
// what later runs show. The first two need not exist.
func Private() (dirs []string) {
	if base, err := Base(); err == nil {
		dirs = append(dirs, filepath.Join(base, "pinfold"))
	}
	if base, err := os.UserConfigDir(); err == nil {
		dirs = append(dirs, filepath.Join(base, "pinfold"))
	}
	known := func(dir string) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	if base := os.Getenv("XDG_RUNTIME_DIR"); base != "" {
		known(filepath.Join(base, "pinfold"))
	}
	if socket := os.Getenv("PINFOLD_SOCKET"); socket != "" && !inside.Run() {
		// Of a broker with another --state-dir: its own, or one for an agent.
		for _, dir := range []string{filepath.Dir(socket), filepath.Dir(filepath.Dir(socket))} {
			if info, err := os.Lstat(brokerhttp.OperatorSocket(dir)); err == nil && info.Mode()&os.ModeSocket != 0 {
				known(dir)
			}
		}
	}
	return dirs
}

// LeftDir is where what runs left is remembered.
func LeftDir() (string, error) {
	runs, err := RunsDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(runs), "left"), nil
}

// CachesDir is where layers over caches lie.
func CachesDir() (string, error) {
	runs, err := RunsDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(runs), "caches"), nil
}

// LogDir is where the records of runs lie, and the sockets at which those obey that go on.
func LogDir() (string, error) {
	runs, err := RunsDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(runs), "log"), nil
}

// Place is all of pinfold's state that the process which serves a view needs once it
// serves: the directory of LeftDir, made if it is missing where there is any state. What
// brokers keep is not there.
func Place() []string {
	dir, err := LeftDir()
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil // nothing is kept of this user, or can be
	}
	return []string{dir}
}
