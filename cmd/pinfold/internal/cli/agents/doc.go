// Package agents has the commands for working with agents: serve, hire, fire, agents,
// status, messages and the audit.
package agents
