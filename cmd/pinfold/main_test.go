package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary stand in for pinfold, by which name the sessions
// call it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pinfold": main})
}
