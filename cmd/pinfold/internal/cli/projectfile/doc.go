// Package projectfile reads a project's .pinfold.yaml for what a run there may do, and
// keeps which of them their user trusts. What narrows a run counts in every file; what
// widens it only in one that is trusted: these bytes, in this directory.
package projectfile
