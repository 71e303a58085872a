// Package agenttools is a broker's agents as tools for a model: nexus_create,
// nexus_send, nexus_status, nexus_cancel and nexus_destroy, called as the agent
// whose connection the client is.
//
// It decides nothing. Which tools are listed is what the agent's policy permits
// at all; each call is the broker's to allow, to have asked for, and to record,
// also that of a tool that is not listed. Its refusals are handed over to the
// letter.
package agenttools
