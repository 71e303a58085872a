// Package launcher runs a command inside a view of a project.
//
//	view, err := sandboxfs.New(resolver, sandboxfs.Options{})
//	...
//	result, err := launcher.Run(ctx, launcher.Config{
//		Resolver: resolver, View: view,
//		Command: []string{"go", "test", "./..."},
//		Stdin:   os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
//	})
//	if err != nil {
//		return 125 // set-up failed; the command never ran
//	}
//	return result.ExitCode
//
// Run starts the program that calls it again under another name. This package
// takes over there before main begins, so main has nothing to do for it.
//
// # Processes
//
// The supervisor (the caller of Run) answers the view's requests and relays
// the standard streams. It starts the set-up helper in new user (as an ordinary
// user), mount, IPC and UTS namespaces. The set-up helper starts init in a new
// process namespace, builds the file system by the plan while init's runtime
// starts, mounts the view, hands init the new root and then watches the
// supervisor. Init gives up every right, starts the command as process 2 in a
// process group of its own, and reaps.
//
// What is mounted where, which environment and which identity the command
// gets is decided by newPlan, a pure function; the other files carry it out.
//
// # Refusals
//
// In the read-only mounts of a view the kernel refuses by itself, and the view
// never hears of it. With Config.OnRefusal the command is watched (the files
// watch_*.go): a second seccomp filter hands every call that is about to change
// a file or a name to the set-up helper, which notes what it names and lets it go
// on at once. It decides nothing. The supervisor asks the resolver's rules about
// what was noted, and tells of it as the view would have.
//
// # Guarantees
//
// The command sees the project at its own path through the view, the trees of
// Config.Beside likewise, system directories read-only, a private /tmp,
// /var/tmp, /dev/shm, /dev, /proc and home, what /sys says of the processors and
// dpkg of the installed packages, and nothing else of the host's
// files. Writes elsewhere fail with
// EROFS. It holds no capability and no descriptor but 0, 1 and 2; it sees no
// process outside; abstract sockets and signals do not leave it. When any step
// of the set-up fails the command does not run. When the supervisor dies, or
// gives no sign of life for Config.HangTimeout, every process inside is killed
// and the view's connections end; nothing stays behind.
//
// A command that keeps root's uid reads in the system directories what
// everybody may read: their files belong to nobody there. Streams are
// passed as bytes: the command gets a pipe or a terminal made for it, never a
// file, socket or terminal of the caller, which it could open again, feed or
// rob through /proc/self/fd.
//
// # Ends
//
// A command that stops itself stops nothing outside (Config.OnStopped); a key of
// the operator's, or SIGTSTP from outside, stops both. SIGTERM continues what is
// stopped and, Config.Grace later, ends everything inside: process 1 kills it at
// one blow, since thousands of processes may want to run by then. Their number
// is bounded (Config.MaxTasks), as are the temporary file systems, which lie in
// memory (Config.TmpSize).
//
// # Limits
//
// The network is the host's. Where Landlock is missing or old, or a file
// system cannot map ids, guarantees are lost; Result.Lost and Probe name them.
// What --ro and --home show is shown as it is, sockets included. Stopping the
// supervisor by hand (SIGSTOP, a debugger) counts as hanging; Ctrl-Z does not.
// Root without capabilities is bound by the modes of files that belong to
// others, and gives no file to them: a view that is served Unprivileged tells of
// that as of a refusal (sandboxfs.RuleNotOwner, RuleChown). Because system files belong to nobody, ssh refuses the files that
// /etc/ssh/ssh_config includes; give it one with -F.
//
// A command that reads no input may still have the relay read ahead from a
// pipe; give it /dev/null. What was read ahead from a regular file is given
// back. In a pipeline (standard input or output is not a terminal) keys are
// not relayed to the inner terminal; typed lines, Ctrl-C and Ctrl-Z are.
//
// What OnRefusal is told is what the command was seen to attempt. A command
// with two threads can change a path between the look and the kernel's own, so
// that an attempt is missed or another one told: the report is for people and
// for CI, not evidence against an agent that hides. Links outside of the
// project and calls of AF_UNIX bind(2) are not followed, nor are names that
// lead through /proc or /dev: /proc/self/cwd/x, /proc/thread-self/fd/7,
// /dev/fd/7 (/proc/self/fd/7 is). What comes faster than it can be judged is
// not told but counted in Result.Dropped.
//
// # Locks
//
// session.mu guards the set-up helper's process number against reuse,
// outerTerminal.mu its saved mode. Neither is held together with another.
// watcher.telling is taken before watcher.mu.
package launcher
