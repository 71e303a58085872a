//go:build !unix

package fileskills

// syncDir does nothing: this system has no way to sync a directory, and
// journals its names by itself.
func syncDir(string) error { return nil }
