package broker_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
	"github.com/pinfold-dev/pinfold/permission"
)

// A worker wants to write where its policy says ask; its manager approves, and
// the worker goes on.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "broker-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlitestore.Open(ctx, filepath.Join(dir, "broker.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	b, err := broker.New(ctx, broker.Options{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()

	hire := func(who broker.Identity, id, doc string) broker.Identity {
		src, err := permission.Decode(id+".yaml", []byte(doc))
		if err != nil {
			log.Fatal(err)
		}
		policy, err := permission.Compile(src, permission.Options{})
		if err != nil {
			log.Fatal(err)
		}
		if _, _, err := b.Hire(ctx, who, broker.HireSpec{ID: id, Policy: policy, Cwd: "/project"}); err != nil {
			log.Fatal(err)
		}
		return broker.AgentIdentity(id) // what a transport makes of a connection
	}
	manager := hire(broker.OperatorIdentity(), "manager", "{version: 1, extends: trusted}")
	worker := hire(manager, "worker", "{version: 1, extends: sandboxed, fs: {write: [docs], ask_write: [src]}}")

	answer := make(chan access.Decision)
	go func() {
		answer <- b.Gate(worker).Check(ctx, access.Request{Action: access.FSWrite, Resource: "src/a.go", MayBlock: true})
	}()
	messages, err := b.Receive(ctx, manager, true) // waits for one
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(messages[0].Type)
	requests, err := b.Requests(ctx, manager)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := b.Approve(ctx, manager, requests[0].ID, broker.Answer{Scope: broker.Path}); err != nil {
		log.Fatal(err)
	}
	fmt.Println((<-answer).Effect)
	// Output:
	// permission_request
	// allow
}
