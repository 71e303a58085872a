// Package leftover finds what a run left that can act later: on the next build, the
// next commit, or when somebody follows a link.
//
// A Record is told of each change while the run goes on and keeps the places that may
// matter. It looks at names and modes only, so that it costs a change less than a
// microsecond. What is at these places is looked at once, when the run has ended
// (Examine). Only directories that were moved are walked.
package leftover
