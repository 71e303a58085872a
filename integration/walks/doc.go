// Package walks holds the resolver's walker to the kernel: random trees and
// random paths, by test and by fuzzing. It needs no privilege.
//
//	go test -fuzz FuzzWalkerVsKernel ./integration/walks
package walks
