//go:build linux

// Package mcpbench measures file skills over MCP, on standard input and output
// as agents use them: `pinfold mcp` as it is shipped, a bare server of the same
// SDK that does the raw calls and checks nothing, and the official file server
// in TypeScript. The same client speaks to all of them, one call at a time, by
// lines that it has made before the clock starts.
//
// Bare is that server; the bench's program becomes it when it is told so.
package mcpbench
