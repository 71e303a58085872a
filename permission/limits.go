package permission

// Bounds of what a document may cost, so that a hostile one is refused in
// milliseconds. A policy of some thousand rules lies well within them.
const (
	maxDocument = 256 << 10 // bytes of one document, or of an agent's front matter
	maxAgent    = 1 << 20   // bytes of an agent definition with its Markdown
	maxMarks    = 20_000    // characters that can begin a YAML token, about two a rule
	maxKeys     = 3_000     // keys of all mappings; the parser's time grows with their square
	maxDepth    = 12        // mappings and lists within each other; the schema needs 4
	maxProblems = 50        // problems reported of one document
	maxExtends  = 8         // documents that extend each other
	maxHosts    = 500       // hosts of one document's network
	maxName     = 128       // bytes of a name or an agent's id
	maxPath     = 4096      // bytes of a path or glob (PATH_MAX); more about globs in package globs
)
