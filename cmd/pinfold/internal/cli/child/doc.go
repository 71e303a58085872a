// Package child starts this program again for work of its own, and what it needs to
// speak to such a process.
package child
