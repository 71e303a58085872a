package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The programs under test and their helper, built once by TestMain, in a
// directory that every user can enter.
var (
	bin     string // the directory
	insider string // integration/insider
	pinfold string // cmd/pinfold, as it is shipped
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "pinfold-bin-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	insider, pinfold = filepath.Join(bin, "insider"), filepath.Join(bin, "pinfold")
	for _, err := range []error{
		os.Chmod(bin, 0o755),
		build(insider, "./insider"),
	} {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
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
