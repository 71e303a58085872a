package insider

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/pinfold-dev/pinfold/integration/ops"
)

// roles by the first argument. What a role gets are the arguments after it.
var roles = map[string]func(args []string) error{
	"hold":     hold,
	"exchange": exchange,
	"pairs":    pairs,
	"appear":   appear,
	"plant":    plant,
	"view":     view,
	"as":       as,
	"place":    place,
	"churn":    churn,
	"writer":   writer,
	"walk":     walk,
	"hear":     hear,
}

// init adds the roles that end in another one.
func init() {
	roles["serve"] = serve
	roles["enter"] = enter
}

// Main plays the role that args name and returns the exit status.
func Main(args []string) int {
	if len(args) == 0 || roles[args[0]] == nil {
		fmt.Fprintln(os.Stderr, "insider: unknown role")
		return 2
	}
	if err := roles[args[0]](args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "insider:", err)
		return 1
	}
	return 0
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
