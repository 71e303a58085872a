// Package check has the command check: what is wrong with a policy, with policy files
// and with agent definitions, as text, JSON, SARIF or annotations of GitHub, less
// what a baseline knows.
package check
