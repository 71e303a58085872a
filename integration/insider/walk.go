package insider

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// walk looks at everything beneath a directory and says how many files there
// were.
func walk(args []string) error {
	if len(args) != 1 {
		return errors.New("walk DIR")
	}
	files := 0
	err := filepath.WalkDir(args[0], func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		_, err = os.Lstat(p)
		return err
	})
	fmt.Println(files)
	return err
}
