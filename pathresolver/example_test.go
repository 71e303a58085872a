package pathresolver_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// project makes a small project to work in.
func project() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "project-")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module a\n", ".env": "TOKEN=1\n", "src/a.go": "package a\n"} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			log.Fatal(err)
		}
	}
	return dir, func() { _ = os.RemoveAll(dir) }
}

// An agent reads the project, writes beneath src, and does not see .env.
func Example() {
	dir, remove := project()
	defer remove()
	r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"src"}, Hide: []string{"**/.env"}})
	if err != nil {
		log.Fatal(err) // a *ConfigError with every violation
	}
	defer r.Close()

	fmt.Println(r.WriteFile("src/a.go", []byte("package b\n"), 0o644))
	err = r.WriteFile("go.mod", []byte("module evil\n"), 0o644)
	fmt.Println(errors.Is(err, fs.ErrPermission))
	fmt.Println(err)
	var denied *pathresolver.DeniedError
	_, err = r.ReadFile(".env")
	fmt.Println(errors.As(err, &denied) && denied.Rule == pathresolver.RuleHidden)
	// Output:
	// <nil>
	// true
	// Path 'go.mod' is outside the allowed sandbox for writing; writable: src
	// write refused (no_write_path): no write path covers it. Reading is allowed
	// To allow it, add the write path 'go.mod'
	// true
}

// What would be decided about a path, without doing it.
func ExampleResolver_Resolve() {
	dir, remove := project()
	defer remove()
	r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"src"}})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for _, path := range []string{"src/new.go", "go.mod", ".git/hooks/pre-commit", "../other"} {
		var denied *pathresolver.DeniedError
		place, err := r.Resolve(access.OpWrite, path, 0)
		if errors.As(err, &denied) {
			fmt.Printf("%s: %s\n", path, denied.Rule)
		} else {
			fmt.Printf("%s: place %s, %v\n", path, place, err)
		}
	}
	// Output:
	// src/new.go: place src/new.go, <nil>
	// go.mod: no_write_path
	// .git/hooks/pre-commit: protected
	// ../other: outside_root
}

// Everything that is wrong with a configuration, at once.
func ExampleValidate() {
	dir, remove := project()
	defer remove()
	for _, v := range pathresolver.Validate(pathresolver.Config{Root: dir, WritePaths: []string{"src", "../other", "src/deep"}, Hide: []string{"[x"}}) {
		fmt.Println(v.Severity, v.Code, v.Field)
	}
	// Output:
	// error bad_pattern hide[0]
	// error path_dot_dot write_paths[1]
	// warning path_nested write_paths[2]
}
