package sandboxfs

import (
	"fmt"
	"os/exec"
	"strings"
)

// fusermountUnmount unmounts for an ordinary user, lazily where it is busy.
func fusermountUnmount(path string) (lazily bool, err error) {
	if out, err := exec.Command("fusermount3", "-u", "--", path).CombinedOutput(); err == nil {
		return false, nil
	} else if out, err = exec.Command("fusermount3", "-u", "-z", "--", path).CombinedOutput(); err != nil {
		return true, fmt.Errorf("fusermount3: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return true, nil
}
