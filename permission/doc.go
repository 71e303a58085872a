// Package permission answers one question: what may this agent do? It
// describes and decides; it never touches a file of the project. A policy is a
// short YAML document, or the front matter of an agent's own Markdown file:
//
//	version: 1
//	extends: sandboxed
//	fs: {write: [docs]}
//
// Compile makes an immutable Policy of it, and Check answers:
//
//	p, err := permission.Load(os.DirFS(root), "agents/writer.yaml", permission.Options{})
//	if err != nil {
//		return err // a *DocumentError: every problem with file, line and column
//	}
//	d := p.Check(ctx, access.Request{Action: access.FSWrite, Resource: "src/a.go"})
//	fmt.Println(d.Effect, d.Rule, d.Source) // deny writer:fs.write agents/writer.yaml:3:6
//
// Resolver turns a policy into the pathresolver.Config that holds it on every
// surface.
//
// # How a decision is made
//
// A policy is a chain of layers, one for each document: what a document
// extends, then the document, then what its caller adds. A layer allows,
// asks, denies, or says nothing. The strictest word counts: deny over ask over
// allow. There are no priorities, and the order of rules means nothing. Where
// no layer of an agent says anything, it is denied. The child of an agent has
// its parent's chain before its own, so it never may do more.
//
// An absent key says nothing, an empty list says "none". The two never turn
// into each other.
//
// # Checking
//
// Examine (examine.go) says everything that is wrong with a file at once: a
// document that is refused for its shape is still looked at for its meaning. It
// is for 'pinfold check', and with other things that only the command asks it
// stands behind the door internal/policies.
//
// # A new key
//
// A key of a document is a field of Document or FS (document.go); decoding,
// encoding and the JSON Schema come from its tags. After that:
//
//   - newLayer (layer.go) compiles it. What types cannot say about its value is
//     said by the validator (validate_parts.go).
//   - Check asks it: about files in opineRead and opineWrite (check_file.go),
//     about tools in check_tool.go, about agents in check_target.go.
//   - What the resolver must hold too goes into its Config in Policy.Resolver
//     (bridge.go).
//   - fileExcess and its like (excess.go) say when a child asks for more.
//
// 'go test ./permission -update' writes the schema anew, and docs/policy.md
// describes the key.
//
// # Guarantees
//
// Decoding is strict: an unknown key, a key twice, another type or an unknown
// word refuses the document, with the position and with what was probably
// meant. Anchors, aliases and tags are refused. A hostile document is refused
// in milliseconds, by the bounds in limits.go.
//
// Encode and Format are canonical: Decode reads back what they write, and
// formatting twice changes nothing. The JSON Schema that is shipped is made
// from the struct tags of Document, as decoding is.
//
// Check needs about a microsecond whatever the number of rules, and allocates
// nothing for names in ASCII.
//
// # Limits
//
// The resources of requests about files are places: paths that something else
// has resolved. A verdict about a string is no verdict about what a link in it
// leads to; pathresolver decides and acts on one descriptor. bash_policy and
// bash_commands are advice to an agent's own command line.
//
// # Concurrency
//
// Policies and documents do not change once they are made, and are safe for
// use by many goroutines. The package holds no lock.
package permission
