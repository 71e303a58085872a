// Package fileskills holds the file tools that an agent runtime offers to a
// model: read_file, edit_file, grep and the rest, over one directory, under
// one policy.
//
//	r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"out"}})
//	...
//	set, err := fileskills.New(fileskills.Config{FS: fileskills.Resolved(r)})
//	...
//	for _, s := range set.Skills() { // only those that the policy can ever allow
//		offer(s.Name, s.Description, s.InputSchema)
//	}
//	res, err := set.Call(ctx, "edit_file", input) // err is always an *Error
//
// # One way in
//
// Call decodes the input strictly against the skill's schema, asks the gate
// about every path argument, and only then lets the skill act. What a skill
// does to a path is said by the type of the argument (ReadPath, WritePath,
// EditPath), nested ones included: from it follow what is listed, what the
// gate is asked, and what the documentation says. No list of write tools
// exists that could forget one.
//
// # Files
//
// A skill reaches files through FS only. Its production implementation is
// Resolved, the path resolver: a verdict and the act it allows use the same
// handle. A gate can narrow what the resolver allows, never widen it.
package fileskills
