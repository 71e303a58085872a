// Package ops is the vocabulary of the corpus in testdata/cases: what can be
// done to a path, by one word each, and what came of it. Native does it with
// plain system calls; it is both what runs inside a view and, on the bare
// tree, what a refusal is compared with. Serve and Client carry operations to
// another process, one JSON document a line.
package ops
