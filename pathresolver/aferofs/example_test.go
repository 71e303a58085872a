package aferofs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"

	"github.com/spf13/afero"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/pathresolver/aferofs"
)

// A program that is written against afero works within the rules.
func Example() {
	dir, err := os.MkdirTemp("", "project-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"out"}})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()

	var files afero.Fs = aferofs.New(r)
	fmt.Println(files.MkdirAll("out/deep", 0o755))
	fmt.Println(afero.WriteFile(files, "out/deep/a.txt", []byte("one\n"), 0o644))
	err = afero.WriteFile(files, "a.txt", []byte("one\n"), 0o644)
	fmt.Println(errors.Is(err, fs.ErrPermission))
	// Output:
	// <nil>
	// <nil>
	// true
}
