// Package launchprofile knows how an agent is started in a run: its launch profile, a
// file of data (Load), and where it is installed here and what that is made of (Find).
//
// A profile grants nothing by itself: 'pinfold run --app' turns it into the flags that
// its user could type, and shows them with --dry-run.
//
// # A new agent
//
// An agent that is started by one word is a file in builtin (codex.yaml is the
// shortest); TestBuiltins says what every file has. The command, the help of --app and
// what app lists come from there. These know it by name:
//
//   - docs/cli.md: a test asks for its block, and -update fills that; its name in
//     the list at the head of the page;
//   - its own settings in a project, which run by themselves (files in
//     internal/trusted/table.go);
//   - integration/agents: its package in testdata/npm, and how a model drives it, in
//     the list all (programs_test.go);
//   - README.md, docs/agents.md, and its page in docs/agents, each line of which is run.
//
// But for the block in docs/cli.md no test fails where one of them is forgotten.
package launchprofile
