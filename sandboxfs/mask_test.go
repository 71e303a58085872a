//go:build linux

package sandboxfs_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

const secret = "S3cr3tValue"

func masking() pathresolver.Config {
	return pathresolver.Config{WritePaths: []string{"out"}, Mask: []string{"**/.env", "private"}}
}

// maskedReads are ways by which programs get at what a file holds. Each returns all of it.
// scratch is a directory of the same file system, in which files may be made.
var maskedReads = map[string]func(path, scratch string) ([]byte, error){
	"read": func(path, _ string) ([]byte, error) { return os.ReadFile(path) },
	"pread": func(path, _ string) ([]byte, error) {
		return withOpen(path, 0, func(f *os.File) ([]byte, error) {
			b := make([]byte, 200)
			n, err := f.ReadAt(b, 0)
			if err == io.EOF {
				err = nil
			}
			return b[:n], err
		})
	},
	"O_DIRECT": func(path, _ string) ([]byte, error) {
		return withOpen(path, unix.O_DIRECT, func(f *os.File) ([]byte, error) {
			all := make([]byte, 8192)
			at := (4096 - int(uintptr(unsafe.Pointer(&all[0]))&4095)) & 4095
			n, err := f.Read(all[at : at+4096])
			return all[at : at+max(n, 0)], err
		})
	},
	"mmap": func(path, _ string) ([]byte, error) { return inChild("print-map", path).Output() },
	"splice": func(path, _ string) ([]byte, error) {
		return piped(path, func(f *os.File, w int) error {
			_, err := unix.Splice(int(f.Fd()), nil, w, nil, 4096, 0)
			return err
		})
	},
	"sendfile": func(path, _ string) ([]byte, error) {
		return piped(path, func(f *os.File, w int) error {
			_, err := unix.Sendfile(w, int(f.Fd()), nil, 4096)
			return err
		})
	},
	"copy_file_range": func(path, scratch string) ([]byte, error) {
		to, err := os.Create(filepath.Join(scratch, "copied"))
		if err != nil {
			return nil, err
		}
		defer to.Close()
		return withOpen(path, 0, func(f *os.File) ([]byte, error) {
			_, err := unix.CopyFileRange(int(f.Fd()), nil, int(to.Fd()), nil, 4096, 0)
			if err == unix.EXDEV { // they are on two mounts
				_, err = io.Copy(to, f)
			}
			if err != nil {
				return nil, err
			}
			return os.ReadFile(to.Name())
		})
	},
	"/proc/self/fd": func(path, _ string) ([]byte, error) {
		return withOpen(path, 0, func(f *os.File) ([]byte, error) { return os.ReadFile("/proc/self/fd/" + itoa(int(f.Fd()))) })
	},
	"O_PATH": func(path, _ string) ([]byte, error) {
		return withOpen(path, unix.O_PATH, func(f *os.File) ([]byte, error) { return os.ReadFile("/proc/self/fd/" + itoa(int(f.Fd()))) })
	},
	"symbolic link": func(path, scratch string) ([]byte, error) {
		link := filepath.Join(scratch, "linked")
		if err := os.Symlink(path, link); err != nil {
			return nil, err
		}
		return os.ReadFile(link)
	},
	"cp": func(path, scratch string) ([]byte, error) {
		to := filepath.Join(scratch, "cp")
		if text, err := exec.Command("cp", "--reflink=auto", path, to).CombinedOutput(); err != nil {
			return text, err
		}
		return os.ReadFile(to)
	},
	"sourcing": func(path, _ string) ([]byte, error) {
		return exec.Command("sh", "-c", `. "$1" && printf 'TOKEN=%s\n' "$TOKEN"`, "sh", path).Output()
	},
}

func withOpen(path string, flags int, read func(*os.File) ([]byte, error)) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|flags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f)
}

func piped(path string, move func(f *os.File, w int) error) ([]byte, error) {
	return withOpen(path, 0, func(f *os.File) ([]byte, error) {
		var p [2]int
		if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
			return nil, err
		}
		defer unix.Close(p[0])
		err := move(f, p[1])
		_ = unix.Close(p[1])
		if err != nil {
			return nil, err
		}
		b := make([]byte, 4096)
		n, err := unix.Read(p[0], b)
		return b[:max(n, 0)], err
	})
}

func printMap(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		return err
	}
	m, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(m)
	return err
}

// By no way of reading is a value seen, in a write path or elsewhere; without the mask
// each way shows it. The stand-in is the same by all of them.
func TestMasked(t *testing.T) {
	tree := []string{".env=TOKEN=" + secret + "\n", "out/.env=TOKEN=" + secret + "\n", "out/scratch/"}
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		plain := masking()
		plain.Mask = nil
		control := mount(t, o, plain, tree...)
		f := mount(t, o, masking(), tree...)
		want := f.read(f.in(".env"))
		require.Regexp(t, `^TOKEN=[A-Za-z0-9]{11}\n$`, want)
		for way, read := range maskedReads {
			for _, place := range []string{".env", "out/.env"} {
				got, err := read(control.in(place), control.in("out/scratch"))
				require.NoError(t, err, "the control: %s %s", way, place)
				require.Equal(t, "TOKEN="+secret+"\n", string(got), "the control: %s %s", way, place)

				got, err = read(f.in(place), f.in("out/scratch"))
				require.NoError(t, err, "%s %s", way, place)
				require.Equal(t, want, string(got), "%s %s", way, place)
				for _, of := range []*fixture{control, f} {
					for _, name := range names(t, of.in("out/scratch")) {
						require.NoError(t, os.Remove(of.in("out/scratch/"+name)))
					}
				}
			}
		}
		st, err := os.Stat(f.in("out/.env"))
		require.NoError(t, err)
		require.EqualValues(t, len(want), st.Size())
		require.Equal(t, "TOKEN="+secret+"\n", f.read(f.on(".env")), "on the host")
	})
}

// What is masked is not changed, moved, linked or removed, and no such name is made: so
// nobody tries values, or takes a file out of reach. Beside it each works.
func TestMaskedStays(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, masking(), "out/.env=TOKEN="+secret+"\n", "out/plain=TOKEN="+secret+"\n", "out/dir/.env=A="+secret, "out/dir2/x=1")
		changes := map[string]func(name string) error{
			"write": func(name string) error { return write(f.in("out/"+name), "A=b") },
			"rdwr": func(name string) error {
				return closed(os.OpenFile(f.in("out/"+name), os.O_RDWR, 0))
			},
			"truncate": func(name string) error { return os.Truncate(f.in("out/"+name), 1) },
			"chmod":    func(name string) error { return os.Chmod(f.in("out/"+name), 0o600) },
			"link":     func(name string) error { return os.Link(f.in("out/"+name), f.in("out/linked")) },
			"rename":   func(name string) error { return os.Rename(f.in("out/"+name), f.in("out/moved")) },
		}
		for _, change := range []string{"write", "rdwr", "truncate", "chmod", "link", "rename"} {
			require.ErrorIs(t, changes[change](".env"), syscall.EROFS, change)
		}
		require.ErrorIs(t, os.Remove(f.in("out/.env")), syscall.EROFS)
		require.ErrorIs(t, write(f.in("out/dir2/.env"), "A=guess"), syscall.EROFS)
		require.ErrorIs(t, os.Mkdir(f.in("out/dir2/.env"), 0o755), syscall.EROFS)
		require.ErrorIs(t, os.Rename(f.in("out/plain"), f.in("out/dir2/.env")), syscall.EROFS)
		require.ErrorIs(t, os.Link(f.in("out/plain"), f.in("out/dir2/.ENV")), syscall.EROFS, "letter case does not matter")
		require.ErrorIs(t, unix.Renameat2(unix.AT_FDCWD, f.in("out/plain"), unix.AT_FDCWD, f.in("out/.env"), unix.RENAME_EXCHANGE), syscall.EROFS)
		require.Equal(t, "TOKEN="+secret+"\n", f.read(f.on("out/.env")))
		for _, change := range []string{"write", "rdwr", "truncate", "chmod", "link", "rename"} {
			require.NoError(t, changes[change]("plain"), "the control: %s", change)
		}
		require.NoError(t, write(f.in("out/dir2/env"), "A=b"), "the control")
	})
}

func closed(f *os.File, err error) error {
	if err == nil {
		err = f.Close()
	}
	return err
}

// A directory does not move when something in it would come from behind its mask.
func TestMaskedByMovingTheParent(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		cfg := pathresolver.Config{WritePaths: []string{"out"}, Mask: []string{"out/work/.env"}}
		f := mount(t, o, cfg, "out/work/.env=A="+secret, "out/plain/x=1")
		require.ErrorIs(t, os.Rename(f.in("out/work"), f.in("out/work2")), syscall.EACCES)
		require.NotContains(t, f.read(f.in("out/work/.env")), secret)
		require.NoError(t, os.Rename(f.in("out/plain"), f.in("out/plain2")), "where nothing is masked")
	})
}

// One of several names of a file is masked: by that name stand-ins are read, whichever
// was opened first, and both at once.
func TestMaskedHardLink(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := planted(t, "out/.env=A="+secret+"\n")
		require.NoError(t, os.Link(f.on("out/.env"), f.on("out/other")))
		f.start(o, masking())
		require.Contains(t, f.read(f.in("out/other")), secret, "no glob covers this name")
		held, err := os.Open(f.in("out/other"))
		require.NoError(t, err)
		defer held.Close()
		for range 3 {
			require.NotContains(t, f.read(f.in("out/.env")), secret)
			require.Contains(t, f.read(f.in("out/other")), secret)
		}
	})
}

// What the host changes is seen after the next open, with stand-ins; a file that is not
// understood, or a link out of the mask, is refused and told.
func TestMaskedChangesAndRefusals(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		told := make(chan string, 1000)
		o.OnRefusal = func(r sandboxfs.Refusal) { told <- string(r.Rule) + " " + r.Place }
		f := mount(t, o, masking(), "out/.env=A="+secret+"\n", ".env=A="+secret+"\n", "private/a.json={\"k\": \""+secret+"\"}", "private/notes.txt="+secret, "public="+secret, "private/link => ../public", "private/inner => a.json")
		before := f.read(f.in("out/.env"))
		require.Equal(t, before, f.read(f.in(".env")), "equal values have equal stand-ins")
		for _, place := range []string{".env", "out/.env"} {
			require.NoError(t, write(f.on(place), "A="+secret+"\nB="+secret+"2\n"))
			var now string
			eventually(t, bound, func() bool {
				now = f.read(f.in(place))
				return strings.HasPrefix(now, before) && len(now) == 2*len(before)+1
			}, "the change is seen: "+place)
			require.NotContains(t, now, secret)
		}
		require.NotContains(t, f.read(f.in("private/a.json")), secret)
		require.Contains(t, f.read(f.in("private/a.json")), `{"k": "`)
		require.NotContains(t, f.read(f.in("private/inner")), secret)
		_, err := os.ReadFile(f.in("private/notes.txt"))
		require.ErrorIs(t, err, syscall.EACCES)
		_, err = os.ReadFile(f.in("private/link"))
		require.ErrorIs(t, err, syscall.EACCES)
		require.Contains(t, f.read(f.in("public")), secret, "the control")
		require.Contains(t, f.read(f.on("private/notes.txt")), secret, "on the host")
		for _, want := range []string{"mask_unclear private/notes.txt", "mask_unclear private/link"} {
			for got := ""; got != want; {
				select {
				case got = <-told:
				case <-time.After(bound):
					require.FailNow(t, "not told", want)
				}
			}
		}
	})
}

// Many masked files, more than are kept, are read again and again, and none is left open.
func TestManyMasked(t *testing.T) {
	var specs []string
	for i := range 200 {
		specs = append(specs, "out/d"+itoa(i)+"/.env=N="+itoa(10000+i)+"\nA="+secret+"\n")
	}
	f := mount(t, sandboxfs.Options{}, masking(), specs...)
	for range 2 {
		for i := range 200 {
			require.NotContains(t, f.read(f.in("out/d"+itoa(i)+"/.env")), secret)
		}
	}
	open := openMemfds(t)
	require.Less(t, open, 100)
	require.NoError(t, f.v.Close())
	require.Zero(t, openMemfds(t))
}

func openMemfds(t *testing.T) (count int) {
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, e := range entries {
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); bytes.Contains([]byte(to), []byte("memfd:masked")) {
			count++
		}
	}
	return count
}
