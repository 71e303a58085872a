package integration

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/insider"
	"github.com/pinfold-dev/pinfold/internal/pgtest"
)

// What TestMain makes once.
var (
	// arena holds every tree and mount of the tests. It is a mount of its own
	// whose mounts are seen in all the namespaces of the tests.
	arena string
	// ram is where races are held: a part of the arena that is in memory, if
	// that can be had, since they make and remove millions of files.
	ram string
	// bin is the directory of the programs, which every user can enter.
	bin         string
	insiderPath string // this program, playing package insider
	pinfold     string // cmd/pinfold, as it is shipped; $PINFOLD_BIN if set
	// fuseNode is a /dev/fuse that every user may open, as it is on most
	// systems. Processes of ordinary users get it in the place of the real one.
	fuseNode string
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "insider" {
		os.Exit(insider.Main(os.Args[1:]))
	}
	// Half of the time of a test that starts processes is to wait for them.
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	os.Exit(run(m))
}

// isRoot says that the tests can mount, make devices and switch users. What
// needs none of that runs as an ordinary user as well.
var isRoot = os.Geteuid() == 0

func run(m *testing.M) (code int) {
	var err error
	if arena, err = os.MkdirTemp("", "pinfold-arena-"); err == nil {
		defer func() {
			if err := dismantle(); err != nil {
				fmt.Fprintln(os.Stderr, "something is left behind:", err)
				code = 1
			}
		}()
		err = prepare()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return pgtest.Main(m)
}

// prepare fills the arena.
func prepare() error {
	ram = filepath.Join(arena, "ram")
	bin, fuseNode = filepath.Join(arena, "bin"), filepath.Join(arena, "fuse")
	insiderPath, pinfold = filepath.Join(bin, "insider"), filepath.Join(bin, "pinfold")
	if err := errors.Join(os.Chmod(arena, 0o755), os.Mkdir(bin, 0o755), os.Mkdir(ram, 0o755)); err != nil {
		return err
	}
	if isRoot {
		if err := errors.Join(
			unix.Mount(arena, arena, "", unix.MS_BIND, ""),
			unix.Mount("", arena, "", unix.MS_SHARED, ""),
			unix.Mount("ram", ram, "tmpfs", 0, "mode=755"),
			unix.Mknod(fuseNode, unix.S_IFCHR, int(unix.Mkdev(10, 229))),
			os.Chmod(fuseNode, 0o666),
		); err != nil {
			return err
		}
	}
	if err := install("/proc/self/exe", insiderPath); err != nil {
		return err
	}
	if ready := os.Getenv("PINFOLD_BIN"); ready != "" {
		return install(ready, pinfold)
	}
	return build(pinfold, "../cmd/pinfold")
}

func dismantle() error {
	if isRoot {
		if err := errors.Join(unix.Unmount(ram, 0), unix.Unmount(arena, 0)); err != nil {
			return err
		}
	}
	return os.RemoveAll(arena)
}

// install copies a program.
func install(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

// build builds a static binary.
func build(to, pkg string) error {
	cmd := exec.Command("go", "build", "-o", to, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}
