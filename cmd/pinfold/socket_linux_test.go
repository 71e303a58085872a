package main

import (
	"fmt"
	"io"
	"net"
	"os"
)

func init() { standIns["socket"] = socketMain }

// socketMain is the command "socket listen PATH TEXT", a service of the host's that says
// TEXT to whoever connects, and "socket connect PATH", which prints what it is told.
func socketMain() {
	if err := socketRun(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func socketRun(what, path string) error {
	if what == "connect" {
		c, err := net.Dial("unix", path)
		if err != nil {
			return err
		}
		_, err = io.Copy(os.Stdout, c)
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(c, os.Args[3])
		if err == nil {
			err = c.Close()
		}
		if err != nil {
			return err
		}
	}
}
