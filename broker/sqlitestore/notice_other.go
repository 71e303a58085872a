//go:build !linux

package sqlitestore

// notice is for Linux alone: elsewhere others look every pollInterval.
type notice struct{ heard chan struct{} }

func newNotice(string) *notice { return nil }

func (*notice) tell() {}

func (*notice) close() error { return nil }
