package insider

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// An attacker's first argument is how long it rests after each round.

// exchange swaps two names until standard input ends.
func exchange(args []string) error {
	if len(args) != 3 {
		return errors.New("exchange REST A B")
	}
	return attack(args[0], func() (int, error) { return 1, move(args[1], args[2], unix.RENAME_EXCHANGE) })
}

// pairs swaps each name in a directory with the same name and ".l" behind it,
// or with the same name in another directory, for all such pairs that come
// and go.
func pairs(args []string) error {
	if len(args) != 2 && len(args) != 3 {
		return errors.New("pairs REST DIR [OTHER]")
	}
	return attack(args[0], func() (int, error) {
		return visit(args[1], func(name string) int {
			a, b := args[1]+"/"+name, args[1]+"/"+name+".l"
			if len(args) == 3 {
				b = args[2] + "/" + name
			}
			if move(a, b, unix.RENAME_EXCHANGE) != nil {
				return 0 // the pair has gone
			}
			return 1
		})
	})
}

// appear takes the ".l" off a name in a directory or puts it on again, for all
// such names, so that the one in front of it comes and goes. When somebody else
// has made that one, the two are exchanged instead.
func appear(args []string) error {
	if len(args) != 2 {
		return errors.New("appear REST DIR")
	}
	return attack(args[0], func() (swaps int, err error) {
		return visit(args[1], func(name string) int {
			a, b := args[1]+"/"+name, args[1]+"/"+name+".l"
			if move(b, a, unix.RENAME_NOREPLACE) == nil || move(a, b, unix.RENAME_NOREPLACE) == nil || move(a, b, unix.RENAME_EXCHANGE) == nil {
				return 1
			}
			return 0
		})
	})
}

func move(a, b string, flags uint) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, flags)
}

// visit goes once through the names in a directory, each without its ".l", and
// sums what swap did.
func visit(dir string, swap func(name string) int) (swaps int, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for _, name := range names {
		if name = strings.TrimSuffix(name, ".l"); !seen[name] {
			seen[name] = true
			swaps += swap(name)
		}
	}
	return swaps, nil
}

// plant makes a symbolic link or removes the name again, in turn, until
// standard input ends. What the victim has put there is removed as well.
func plant(args []string) error {
	if len(args) != 3 {
		return errors.New("plant REST TARGET LINK")
	}
	return attack(args[0], func() (int, error) {
		err := os.Remove(args[2])
		if errors.Is(err, os.ErrNotExist) {
			err = os.Symlink(args[1], args[2])
		}
		if err != nil && !errors.Is(err, os.ErrExist) && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
		return 1, nil
	})
}

// attack repeats once with a rest in between, says "ready" after the first time,
// ends with standard input, and says how many swaps there were.
func attack(rest string, once func() (swaps int, err error)) error {
	pause, err := time.ParseDuration(rest)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = os.Stdin.Read(make([]byte, 1))
	}()
	for total, first := 0, true; ; first = false {
		n, err := once()
		if err != nil {
			return err
		}
		total += n
		if first {
			fmt.Println("ready")
		}
		select {
		case <-ended:
			fmt.Println(total)
			return nil
		default:
		}
		if pause > 0 {
			time.Sleep(pause)
		}
	}
}
