package sandboxfs

import (
	"fmt"
	"os/exec"
	"strings"
)

// fusermountUnmount unmounts for an ordinary user, lazily where it is busy.
func fusermountUnmount(path string) (lazily bool, err error) {
	if exec.Command("fusermount3", "-u", "--", path).Run() == nil {
		return false, nil
	}
	out, err := exec.Command("fusermount3", "-u", "-z", "--", path).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("fusermount3: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return true, err
}
