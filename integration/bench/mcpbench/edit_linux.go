package mcpbench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// The rows of edits, which are also the bare server's tools. Each compares with
// a bare edit that waits for as much as its name says; `pinfold mcp` as it is
// waits for file and directory, with --no-sync for neither, and the official
// server for neither.
const (
	editNoSync  = "edit_nosync"
	editFsync   = "edit_fsync"
	editDurable = "edit_durable"
)

// awaited is what an edit brings to the disk before it answers.
type awaited struct{ file, dir bool }

var edits = map[string]awaited{
	editNoSync:  {},
	editFsync:   {file: true},
	editDurable: {file: true, dir: true},
}

// edit replaces text in a file by another file in its place.
func (w awaited) edit(a args) (string, error) {
	b, err := os.ReadFile(a.Path)
	if err != nil {
		return "", err
	}
	if bytes.Count(b, []byte(a.Old)) != 1 {
		return "", fmt.Errorf("%q is not there once", a.Old)
	}
	temp := a.Path + ".temp"
	if err := w.write(temp, bytes.Replace(b, []byte(a.Old), []byte(a.New), 1)); err != nil {
		return "", err
	}
	if err := os.Rename(temp, a.Path); err != nil {
		return "", err
	}
	if !w.dir {
		return "edited", nil
	}
	dir, err := os.Open(filepath.Dir(a.Path))
	if err != nil {
		return "", err
	}
	return "edited", errors.Join(dir.Sync(), dir.Close())
}

func (w awaited) write(name string, data []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && w.file {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
