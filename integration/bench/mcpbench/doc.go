//go:build linux

// Package mcpbench measures file skills over MCP, on standard input and output
// as agents use them: `pinfold mcp` as it is shipped, a bare server of the same
// SDK that does the raw calls and checks nothing, and the official file server
// in TypeScript. The same client speaks to all of them, one call at a time, by
// lines that it has made before the clock starts.
//
// An edit that waits for the disk is compared with one that does, and one that
// does not with one that does not: three rows, by what the bare server waits
// for. Allocations counts what a call takes from the heap, without a server.
//
// Bare is that server; the bench's program becomes it when it is told so.
package mcpbench
