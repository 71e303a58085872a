//go:build !linux || portable

package pathresolver_test

import "testing"

// openFDs is for Linux, where descriptors can be listed.
func openFDs(*testing.T) string { return "" }
