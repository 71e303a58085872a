// Package agenttools is a broker's agents as tools for a model: nexus_create,
// nexus_send, nexus_status, nexus_cancel and nexus_destroy, called as the agent whose
// connection the client is.
//
// It decides nothing. The tools that are listed are those that the agent's policy
// permits at all. Each call, even of a tool that is not listed, goes to the broker,
// which allows it, has it asked for or refuses it, and records it. The broker's
// refusals are passed on word for word.
package agenttools
