// Package fsat says to the kernel what the standard library cannot: system
// calls relative to a held directory, without allocation, with EINTR retried.
//
// Nothing here decides anything. Every function takes a descriptor that the
// caller owns and keeps; every descriptor that a function returns belongs to
// the caller and is close-on-exec. Errors are plain errno values.
package fsat
