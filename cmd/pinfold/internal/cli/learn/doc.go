// Package learn is the command learn: it runs a command over a copy of the project that
// is thrown away, and writes the smallest .pinfold.yaml by which it would have worked.
//
// Three processes take part. The first stays outside, and writes the file. It starts the
// second in namespaces of its own, which lays an overlay over the project and becomes the
// third: 'pinfold run -w .', which tells what was changed. All of the layer is in memory
// and ends with that namespace, however it ends.
package learn
