// Package access has the words of one question: may this be done there?
//
// An Op is what a path is used for, as a resolver decides it. An Action is the
// same as a policy names it, and what else a policy speaks of: messages, agents,
// tools. Op.Action and Action.Op are the one table between them. An Access is an
// action and what it is done to.
//
// The package imports nothing of ours and touches nothing, so that whoever asks
// and whoever answers need share no more than this. The words are those of
// documents, reports, databases and messages: none of them changes.
package access
