// Command insider is the tests' other process: it acts inside a view, serves
// one, attacks a tree, or holds descriptors open.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/pinfold-dev/pinfold/integration/ops"
)

// roles by the first argument. What a role gets are the arguments after it.
var roles = map[string]func(args []string) error{
	"serve":    serve,
	"hold":     hold,
	"exchange": exchange,
	"plant":    plant,
}

func main() {
	if len(os.Args) < 2 || roles[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "insider: unknown role")
		os.Exit(2)
	}
	if err := roles[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "insider:", err)
		os.Exit(1)
	}
}

// serve does operations from standard input in its working directory, or with
// an argument, beneath that directory as text.
func serve(args []string) error {
	var n ops.Native
	if len(args) > 0 {
		n.Root = args[0]
	}
	return ops.Serve(os.Stdin, os.Stdout, n)
}

// hold keeps what it was given until standard input ends.
func hold([]string) error {
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, bufio.NewReader(os.Stdin))
	return err
}
