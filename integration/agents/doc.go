// Package agents holds that the coding agents that people use work inside `pinfold
// run`: the real programs, of the versions that testdata/npm names (.ci/agents
// installs them), with a model that plays a script (package model) on loopback.
// Each agent is asked for the same things natively, as a control, and inside; its
// transcripts in testdata are what a model is told of each, refusals first of all.
// On a terminal, in tmux, each is drawn, typed to, resized and left.
//
//	go test ./integration/agents                  # as root: as an ordinary user too
//	go test ./integration/agents -run Agents/claude -update   # write the transcripts anew
package agents
