package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pinfold-dev/pinfold/launcher"
)

// TestMain lets the test binary stand in for pinfold: the sessions call it by
// that name, and the launcher starts it again as its child.
func TestMain(m *testing.M) {
	if launcher.IsChild() {
		os.Exit(launcher.ChildMain())
	}
	testscript.Main(m, map[string]func(){"pinfold": main})
}
