// Package mcpserver offers the skills of a fileskills.Set to any client of the
// Model Context Protocol, over standard streams or streamable HTTP.
//
//	srv := mcpserver.New(set, mcpserver.Options{Version: "1.2.3"})
//	err := srv.ServeStdio(ctx, os.Stdin, os.Stdout)
//
// It decides nothing: what is listed is what set.Skills says, and a call is
// set.Call. Roots that a client names are never asked for and give no
// authority.
//
// # What a peer can do
//
// Whatever a model can mend is a result with isError, never a protocol error.
// A line that is no JSON, is too long or is no request is answered with an
// error and the session goes on; a peer that sends without reading is no
// longer read. Requests in flight, sizes and sessions have the bounds that
// limits.go names. When ctx ends, calls are cancelled; when a peer closes its
// end, calls that run are answered first, for as long as the drain lasts.
//
// # What a result looks like
//
// The text is a text content, images are image contents. The structured
// content is the result's Meta, which never holds a file's body; see
// Structured for the clients that do not get it. The machine-readable form of
// an error is in _meta under ErrorKey.
//
// Goroutines: a Server may serve many sessions at once. No lock is held while
// a skill runs.
package mcpserver
