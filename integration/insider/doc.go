// Package insider is the tests' other process: it acts inside a view, serves
// one, attacks a tree, or holds descriptors open. The test binary plays it
// when it is started under the name "insider", so that nothing has to be built
// where the tests run.
package insider
