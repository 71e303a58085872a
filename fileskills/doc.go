// Package fileskills holds the file tools that an agent runtime offers to a
// model: read_file, edit_file, grep and the rest, over one directory, under
// one policy.
//
//	r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"out"}})
//	...
//	set, err := fileskills.New(fileskills.Config{Resolver: r})
//	...
//	for _, s := range set.Skills() { // only those that the policy can ever allow
//		offer(s.Name, s.Description, s.InputSchema)
//	}
//	res, err := set.Call(ctx, "edit_file", input) // err is always an *Error
//
// # One way in
//
// Call decodes the input strictly against the skill's schema, asks the rules
// and then the gate about every path argument, and only then lets the skill
// act. What a skill does to a path is said by the type of the argument
// (readPath, writePath, editPath), nested ones included: from it follow what is
// listed, what is asked, and what the documentation says. No list of write
// tools exists that could forget one.
//
// # A new skill
//
// A skill is a file (mkdir.go is the shortest) and a line in the list in
// registry.go. It is described and offered from there. These know it by name,
// and a test fails for each that does not:
//
//   - its cases in skilltest, and the lists of what is offered (skilltest/run.go);
//   - the table of path arguments (TestDeclared), and its call over MCP (everyCall in
//     integration/mcp_test.go);
//   - the presets and profiles that allow it (permission/builtin), and the tools
//     of other agents that give it (sameTools in permission/agent_tools.go);
//   - whether its change is shown to whoever approves it
//     (cmd/pinfold/internal/proposal/call.go);
//   - docs/skills.md.
//
// # Files
//
// A skill reaches files through FS only. Its production implementation is
// Resolved, the path resolver: a verdict and the act it allows use the same
// handle. A gate can narrow what the resolver allows, never widen it.
//
// # Guarantees
//
// A call that fails, is refused, or is cancelled has changed nothing; one that
// is killed has changed each file whole or not at all. New content takes the
// place of the old by a rename, with mode, owner and attributes carried over,
// after it has reached the disk (Config.NoSync). Calls that change one file at
// the same moment, from any number of processes, are all made or refused as
// stale_file. Every failure is an *Error whose text a model can act on.
//
// # Limits
//
// A file that cannot be replaced (a write path that is a single file, several
// hard links, somebody else's file) is written in place: the old content is
// put back when that fails, not when the process is killed. Programs that write
// a file in place without regard for the lock of its directory (flock) can lose
// what they write at the very moment of a commit. What a gate that asks a
// person costs in time is between the gate and ctx.
//
// # Locks
//
// The lock of a file within the process is taken first, then that of its
// directory, which all processes respect, for the moment of the commit. Neither
// is held while a gate is asked.
package fileskills
