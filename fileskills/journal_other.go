//go:build !unix

package fileskills

// syncDir does nothing: this system has no way to sync a directory, and
// journals its names by itself.
func syncDir(string) error { return nil }

// onlyOurs is for systems whose files have an owner and a mode.
func onlyOurs(string) error { return nil }
