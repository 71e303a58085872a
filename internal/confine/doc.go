// Package confine has a process give up rights that it needs no more.
//
//	err := confine.Process(confine.Kept{Trees: []string{project}, Capabilities: confine.ServesFiles})
//
// It is the last line behind a server's own checks: should a hole in them let
// somebody choose what the server opens, the kernel refuses all that lies elsewhere.
// What is given up is gone for good, for every thread and every child.
package confine
