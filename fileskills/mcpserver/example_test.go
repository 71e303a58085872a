package mcpserver_test

import (
	"context"
	"log"
	"os"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// An MCP server over standard streams, whose client may write beneath src.
func Example() {
	r, err := pathresolver.New(pathresolver.Config{Root: ".", WritePaths: []string{"src"}})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	set, err := fileskills.New(fileskills.Config{Resolver: r})
	if err != nil {
		log.Fatal(err)
	}
	server := mcpserver.New(set, mcpserver.Options{Name: "files", Version: "1.0.0"})
	if err := server.ServeStdio(context.Background(), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
