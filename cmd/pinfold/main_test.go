package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// standIns are the programs that the test binary stands in for, by the name that
// it is called by.
var standIns = map[string]func(){"pinfold": main}

// TestMain lets the test binary stand in for pinfold, by which name the sessions
// call it.
func TestMain(m *testing.M) {
	testscript.Main(m, standIns)
}
