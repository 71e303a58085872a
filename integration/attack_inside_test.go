package integration

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// attacks are what plays inside, by name. They do what they can: whether it
// did anything is seen on the disk.
var attacks = map[string]func(){
	"removed":   func() { buried(func() error { return os.Remove("work/h") }) },
	"replaced":  func() { buried(func() error { return os.Rename("work/mine", "work/h") }) },
	"first":     func() { must(os.Remove("work/first")) },
	"change":    func() { change("src/f") },
	"rewind":    rewind,
	"submodule": submodule,
	"bare":      bareRepository,
	"setuid":    setUID,
	"hundred":   hundredOpens,
	"userns":    kernelAttacks["userns"],
	"netlink":   kernelAttacks["netlink"],
	"dump":      kernelAttacks["dump"],
	"fill":      kernelAttacks["fill"],
}

// must ends an attack that cannot even begin.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// buried changes a file that has lost its name beneath the write path by a
// descriptor that could only read. Its other name is not beneath it.
func buried(remove func() error) {
	fd, err := unix.Open("work/h", unix.O_RDONLY, 0)
	must(err)
	must(remove())
	changeFD(fd)
}

// change tries every way to change a file that may be read.
func change(path string) {
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	must(err)
	changeFD(fd)
	at, err := unix.Open(path, unix.O_PATH, 0)
	must(err)
	changePath(fmt.Sprintf("/proc/self/fd/%d", at))
	changePath(path)
	_ = os.Link(path, "work/stolen")
	_ = os.WriteFile("work/stolen", []byte("changed"), 0o644)
	_ = os.WriteFile("work/mine", nil, 0o644)
	_ = unix.Renameat2(unix.AT_FDCWD, "work/mine", unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
	_ = unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, "work/white", unix.RENAME_WHITEOUT)
	_ = os.Rename("work/mine", path)
}

// changeFD tries every way that begins with a descriptor for reading.
func changeFD(fd int) {
	changePath(fmt.Sprintf("/proc/self/fd/%d", fd))
	_ = unix.Fchmod(fd, 0o606)
	_ = unix.Fsetxattr(fd, "user.attack", []byte("1"), 0)
	_ = unix.Futimes(fd, []unix.Timeval{{Sec: 1}, {Sec: 1}})
	_ = unix.Ftruncate(fd, 0)
	_ = unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE|unix.FALLOC_FL_PUNCH_HOLE, 0, 1)
	_ = unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, unix.STATX_ATTR_NODUMP)
	if m, err := unix.Mmap(fd, 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
		m[0] = 'm'
	}
	_ = unix.Linkat(fd, "", unix.AT_FDCWD, "work/again", unix.AT_EMPTY_PATH)
	_ = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, "work/again", unix.AT_SYMLINK_FOLLOW)
	_ = os.WriteFile("work/again", []byte("changed"), 0o644)
}

// changePath tries every way that begins with a name.
func changePath(path string) {
	for _, flags := range []int{unix.O_WRONLY | unix.O_APPEND, unix.O_RDWR, unix.O_RDONLY | unix.O_TRUNC} {
		if fd, err := unix.Open(path, flags, 0); err == nil {
			_, _ = unix.Write(fd, []byte("changed"))
			_ = unix.Close(fd)
		}
	}
	_ = unix.Truncate(path, 1)
	_ = unix.Chmod(path, 0o777)
	_ = unix.Setxattr(path, "user.attack", []byte("1"), 0)
	_ = unix.UtimesNano(path, []unix.Timespec{{Sec: 1}, {Sec: 1}})
}

// rewind puts into its own standard input more than ever came from there, so
// that who gives back what was left unread gives back too much. Where standard
// input is the file itself it simply moves it.
func rewind() {
	if _, err := unix.Seek(0, 0, unix.SEEK_SET); err == nil {
		return
	}
	must(unix.SetNonblock(0, true))
	fd, err := unix.Open("/proc/self/fd/0", unix.O_WRONLY|unix.O_NONBLOCK, 0)
	must(err)
	buf := make([]byte, 1<<16)
	for {
		if n, err := unix.Read(0, buf); n <= 0 && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_, _ = unix.Write(fd, buf[:20000])
}

// evil has git run a program when it looks for changes.
const evil = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = %s\n\tfsmonitor = \"touch %s; false\"\n"

// submodule puts a repository of its own where one of the project's is.
func submodule() {
	_ = os.Remove("work/sub/.git")
	_ = os.Rename("work/sub", "work/old")
	repository("work/sub/.git", "..", "../../ran")
}

// bareRepository makes the project itself a repository.
func bareRepository() { repository(".", ".", "../ran") }

// repository makes one that runs a program of its own.
func repository(dir, tree, ran string) {
	for _, sub := range []string{"objects", "refs"} {
		_ = os.MkdirAll(dir+"/"+sub, 0o755)
	}
	_ = os.WriteFile(dir+"/config", fmt.Appendf(nil, evil, tree, ran), 0o644)
	_ = os.WriteFile(dir+"/head", []byte("ref: refs/heads/main\n"), 0o644)
	_ = os.Rename(dir+"/head", dir+"/HEAD")
}

// setUID leaves programs that run as their owner, whoever starts them.
func setUID() {
	must(os.WriteFile("work/a", nil, 0o755))
	_ = unix.Chmod("work/a", 0o6755)
	if fd, err := unix.Open("work/b", unix.O_CREAT|unix.O_WRONLY, 0o6755); err == nil {
		_ = unix.Fchmod(fd, 0o4755)
	}
	_ = unix.Mknod("work/c", unix.S_IFREG|0o6755, 0)
	if fd, err := unix.Open("work", unix.O_TMPFILE|unix.O_WRONLY, 0o4755); err == nil {
		_ = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, "work/d", unix.AT_SYMLINK_FOLLOW)
	}
}
