//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: error: what is measured here exists on Linux only")
	os.Exit(1)
}
