// Package proposal shows whoever answers a request what the proposed call would
// change: the difference between the files as they are and as the call would
// leave them.
//
//	m := proposal.New(b, nil)
//	p, err := m.Of(ctx, broker.OperatorIdentity(), id)
//
// # Guarantees
//
// The difference is made by the skill itself, over files that only remember what
// would be written: nothing is touched, made or locked. Old content is read by
// handle and beneath the agent's own read rules, so that no manager is shown, by
// the words of an agent, what that agent could not read. The one place that may
// change is the one that the request names: where the arguments lead elsewhere,
// there is no difference but a note. Every line is escaped and the whole is
// bounded.
//
// # Limits
//
// It is what the call would do now. Files may change before it is approved; an
// approval is bound to the arguments and not to the content. What a process in a
// view will write is not known before it writes.
package proposal
