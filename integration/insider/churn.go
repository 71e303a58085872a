package insider

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Writers is how many processes churn starts.
const Writers = 4

// churn has several processes change files in a directory until they are
// killed. It says "ready" when the first file is there.
func churn(args []string) error {
	if len(args) != 1 {
		return errors.New("churn DIR")
	}
	for i := 1; i < Writers; i++ {
		cmd := exec.Command("/proc/self/exe", "writer", args[0], strconv.Itoa(i))
		cmd.Args[0] = "insider"
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return err
		}
	}
	return writer([]string{args[0], "0"})
}

// writer replaces files by rename, makes and removes directories, and appends
// to a log, as fast as it can. What stands under a name "done-*" is whole.
func writer(args []string) error {
	dir := filepath.Join(args[0], "w"+args[1])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for n := 0; ; n++ {
		temp, done := filepath.Join(dir, "temp"), filepath.Join(dir, fmt.Sprint("done-", n%50))
		if err := os.WriteFile(temp, whole(n), 0o644); err != nil {
			return err
		}
		if err := os.Rename(temp, done); err != nil {
			return err
		}
		if n == 0 {
			fmt.Println("ready")
		}
		deep := filepath.Join(dir, "deep", strconv.Itoa(n%7))
		if err := errors.Join(os.MkdirAll(deep, 0o755), os.WriteFile(deep+"/f", []byte("f"), 0o644)); err != nil {
			return err
		}
		if n%3 == 0 {
			if err := os.RemoveAll(filepath.Join(dir, "deep")); err != nil {
				return err
			}
		}
	}
}

// whole is content that tells whether it is.
func whole(n int) []byte {
	body := strings.Repeat(strconv.Itoa(n)+" ", 2000)
	return fmt.Appendf(nil, "%x %s", sha256.Sum256([]byte(body)), body)
}

// IsWhole reports whether data is what whole gave.
func IsWhole(data []byte) bool {
	sum, body, _ := strings.Cut(string(data), " ")
	return sum == fmt.Sprintf("%x", sha256.Sum256([]byte(body)))
}
