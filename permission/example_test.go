package permission_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

const worker = `version: 1
name: worker
extends: sandboxed
fs:
  write: [docs]
  ask_write: [src]
`

// A policy says allow, ask or deny, and which line of it decided.
func Example() {
	src, err := permission.Decode("worker.yaml", []byte(worker))
	if err != nil {
		log.Fatal(err) // a *DocumentError: every problem with file, line and column
	}
	policy, err := permission.Compile(src, permission.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, place := range []string{"docs/a.md", "src/a.go", "go.mod"} {
		d := policy.Check(context.Background(), access.Request{Action: access.FSWrite, Resource: place})
		fmt.Println(place, d.Effect, d.Rule, d.Source)
	}
	// Output:
	// docs/a.md allow worker:fs.write[0] worker.yaml:5:11
	// src/a.go ask worker:fs.ask_write[0] worker.yaml:6:15
	// go.mod deny worker:fs.write worker.yaml:5:3
}

// A mistake in a document comes with its position and what was probably meant.
func ExampleDecode() {
	_, err := permission.Decode("worker.yaml", []byte("version: 1\nfs: {wirte: [docs]}\n"))
	fmt.Println(err)
	// Output:
	// worker.yaml:2:6: unknown key 'wirte' in fs (did you mean 'write'?)
}
