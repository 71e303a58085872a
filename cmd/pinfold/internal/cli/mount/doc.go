// Package mount has the commands mount and unmount, and the processes that serve and
// take away a mounted view.
package mount
