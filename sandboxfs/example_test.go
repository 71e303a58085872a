//go:build linux

package sandboxfs_test

import (
	"log"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// A view of a project at /mnt/view, until somebody unmounts it.
func Example() {
	r, err := pathresolver.New(pathresolver.Config{Root: "/home/me/project", WritePaths: []string{"src"}, Hide: []string{"**/.env"}})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	view, err := sandboxfs.New(r, sandboxfs.Options{
		DefaultPermissions: true,
		OnRefusal:          func(refused sandboxfs.Refusal) { log.Println(refused.Op, refused.Place, refused.Rule) },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer view.Close()
	if err := view.Mount("/mnt/view"); err != nil {
		log.Fatal(err)
	}
	view.Wait()
}
