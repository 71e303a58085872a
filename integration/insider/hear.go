package insider

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// heardNames are the events that hear prints.
var heardNames = []struct {
	bit  uint32
	name string
}{
	{unix.IN_CREATE, "create"}, {unix.IN_DELETE, "delete"}, {unix.IN_MOVED_FROM, "from"}, {unix.IN_MOVED_TO, "to"},
	{unix.IN_MODIFY, "modify"}, {unix.IN_ATTRIB, "attrib"}, {unix.IN_CLOSE_WRITE, "close"},
}

// hear watches directories and files by inotify(7) and prints a line for each event,
// with what it is of. It prints "ready" first. To each file that a line of standard
// input names it adds a line. A file that is given as map:PATH is mapped instead; to the
// line "mapped" it says how many bytes x it finds in each.
func hear(paths []string) error {
	if len(paths) == 0 {
		return errors.New("hear takes paths")
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return err
	}
	watched := map[int32]string{}
	var maps [][]byte
	for _, p := range paths {
		if file, ok := strings.CutPrefix(p, "map:"); ok {
			data, err := mapped(file)
			if err != nil {
				return err
			}
			maps = append(maps, data)
			continue
		}
		wd, err := unix.InotifyAddWatch(fd, p, unix.IN_ALL_EVENTS)
		if err != nil {
			return fmt.Errorf("watch %s: %w", p, err)
		}
		watched[int32(wd)] = p
	}
	fmt.Println("ready")
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			if in.Text() == "mapped" {
				said := "mapped"
				for _, data := range maps {
					said += fmt.Sprintf(" %d", bytes.Count(data, []byte("x")))
				}
				fmt.Println(said)
				continue
			}
			f, err := os.OpenFile(in.Text(), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
			if err == nil {
				_, err = f.WriteString("inside\n")
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				fmt.Println(err)
			}
		}
	}()
	in := os.NewFile(uintptr(fd), "inotify")
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		if err != nil {
			return err
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd, mask := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
			name, _, _ := bytes.Cut(b[unix.SizeofInotifyEvent:end], []byte{0})
			b = b[end:]
			for _, e := range heardNames {
				if mask&e.bit != 0 {
					fmt.Printf("%s %s %s\n", watched[wd], e.name, name)
				}
			}
		}
	}
}

// mapped maps a file and reads all of it.
func mapped(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err == nil {
		_ = bytes.Count(data, []byte("x"))
	}
	return data, err
}
