// Package sandboxfs shows the tree of a pathresolver.Resolver as a FUSE file
// system, under the resolver's rules: what is hidden is not there, what may
// not be written is read-only, for every program and every operation.
//
//	v, err := sandboxfs.New(r, sandboxfs.Options{Passthrough: true, DefaultPermissions: true})
//	if err != nil {
//		return err
//	}
//	defer v.Close()
//	err = v.Mount("/mnt/view")
//
// A process that mounts by itself, in a namespace of its own, opens /dev/fuse
// for each of v.Mounts, calls mount(2) with v.MountArgs, and has the serving
// process call v.Serve.
//
// # Arrangement
//
// A view is one or more mounts, each of which is a FUSE connection (arrange.go).
// One for the whole tree is read-only and stateless: the kernel opens files and
// directories in it without asking and keeps what it has read. Over each write
// path, and over each place that something has to be asked for, lies one that can
// be written, as root with passthrough: the kernel reads and writes the open files
// by itself. A place to be asked for that was missing, and that nobody inside
// could make, is refused without being asked for once the host makes it.
//
// Which mounts exist is decided apart from what each answers: every mount asks the
// same resolver about the place of every name, so that one connection for all
// (SingleConnection) gives the same verdicts.
//
// # Connections
//
// Requests are read, decoded and scheduled by internal/fuseconn. This package is
// its Handler: an operation gets a decoded request and returns a status. All that
// it says about scheduling is that something may take long (fsync, a large copy).
// A process that serves a view should leave the Go runtime more processors than
// there are connections (runtime.GOMAXPROCS).
//
// # Guarantees
//
// A node is a name in a directory and the file that was found there. To act on
// it is one walk from the root to its place that follows no link and leaves no
// mount, then a comparison of the file's identity; a path that was looked at
// is never used again. When the host changes the tree under the view the
// worst that a program sees is ESTALE or ENOENT.
//
// Rules are asked at each look-up and again by place when something is done.
// A write path is a place, not a directory: moved away, it is no longer it;
// made again, it works again. The directories that lead to it keep their node
// ids for ever, since the kernel would otherwise detach what is mounted there.
//
// A file with several hard links is changed only when all of them were made
// through the view. New files belong to the user that makes them.
//
// # What has to be asked for
//
// What a rule says may be asked for is EACCES, unless there is somebody to ask
// (Options.Ask). Then the open of a file that is there waits for the answer, in a
// goroutine of its own without a lock, a thread or a buffer, until it is
// interrupted. Everything else would wait with a lock of the kernel's, on a
// directory or on all renames: it is EACCES at once, is recorded, and is put to
// Ask when it is tried again. What was granted is done from the beginning: the
// rules are asked and the place is walked to once more, with a grant for exactly
// that. What is open stays so when a grant is withdrawn. getxattr(2) and access(2)
// are not asked for: "user." attributes can be read as long as the file is open.
//
// # What the kernel remembers
//
// Changes that the host makes are seen within
//
//   - 10 s in the read-only mount, and in practice at once: directories that
//     the kernel knows are watched (inotify), and it is told of each change;
//   - 1 s where watches are not to be had, or more than maxWatches directories
//     would need one, or where they tell of nothing, since others than this kernel
//     change the tree (FUSE and network file systems beneath);
//   - 1 s in write mounts, for names and attributes. The data of files that are
//     open with passthrough is the host's own.
//
// Changes through the view are seen at once, and the host's by who gets a lock, of the
// file or of one beside it: of names since the first lock in their directory, of
// attributes and of data. What is written to a shared map under a lock is in the file
// when the lock is given back. Maps that nobody locks are apart from the host's, unless the kernel moves the
// data; the files by which SQLite and LMDB share memory are not open on both sides then
// (mapGuard).
//
// The second counts from the host's change on: names may be looked up in a
// directory that was at its place up to 100 ms ago. To read, write or change
// anything the server walks to the place each time.
//
// # Limits
//
// Refusals and permissions:
//
//   - The kernel refuses writes in the read-only mount by itself, so that OnRefusal
//     does not hear of them. Options.ReportAll trades speed for that.
//   - With DefaultPermissions the kernel answers access(2) from the mode of a file.
//     In a write mount it says that a protected file may be written, and the write
//     is EROFS; of what has to be asked for that it may be read, and the open is
//     EACCES. Otherwise access(2) carries the verdict.
//   - Access lists of the host hold where DefaultPermissions is set and others than
//     root may come in.
//   - Where hard links are to be broken, a server that is Unprivileged, or not root,
//     cannot copy another user's file, and writing it is EPERM.
//
// Operations:
//
//   - Only "user." extended attributes can be set. No set-user-id bit is made.
//     ioctl(2) is ENOTTY. A path of more than 4,095 bytes from the root is
//     ENAMETOOLONG: nothing gets such a name. What lies in a directory that is moved may.
//   - A POSIX lock that was taken through a descriptor for reading is given back
//     when the last descriptor of that open file is closed. A server that is not root
//     can lock only what it may open again: a file that is open for writing and was
//     made with mode 0444 is EACCES.
//   - A wait for a POSIX lock that would never end, since programs in the view wait for
//     each other, is EDEADLK. It is not noticed among threads of a process that take
//     and wait for locks of one file, which it has open once: the kernel does not tell
//     these from open file description locks, for which nobody looks. F_GETLK names the
//     process that took such a lock, where it would say -1 without a view.
//   - An open file in a write mount costs the server a descriptor, and so does who holds
//     or waits for a lock of it. A process that has more than twice as many as are free is
//     refused another (EMFILE; ENOLCK for a lock), which leaves some to others.
//   - What the host removes in the read-only mount while it is open is ESTALE.
//   - inotify(7) inside the view tells of the host's changes with WatchHost only.
//   - The name ".go-fuse-epoll-hack" in the root of a mount belongs to go-fuse: a
//     file of that name on the host is not shown, and none is made.
//
// # Locks
//
// See the type connection: moves before one of the locks of its tables. Only moves,
// which keeps names from changing, is held during a walk of the tree; some of the
// others are held during system calls on open descriptors. None is held while an
// operation waits for a file lock or for an answer.
package sandboxfs
