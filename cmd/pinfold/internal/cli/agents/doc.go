// Package agents has the commands of whoever has agents: serve, hire, fire, agents,
// status, messages and the audit.
package agents
