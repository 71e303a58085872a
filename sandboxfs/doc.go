// Package sandboxfs shows a resolver's tree as a file system.
package sandboxfs
