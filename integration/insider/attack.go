package insider

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// exchange swaps two names as fast as it can until standard input ends.
func exchange(args []string) error {
	if len(args) != 2 {
		return errors.New("exchange A B")
	}
	return attack(func() error {
		return unix.Renameat2(unix.AT_FDCWD, args[0], unix.AT_FDCWD, args[1], unix.RENAME_EXCHANGE)
	})
}

// pairs swaps each name in a directory with the same name and ".l" behind it,
// for all such pairs that come and go.
func pairs(args []string) error {
	if len(args) == 0 {
		return errors.New("pairs DIR")
	}
	return attack(func() error {
		entries, err := os.ReadDir(args[0])
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".l"); ok {
				name = args[0] + "/" + name
				for range 20 { // as long as it is there, at full speed
					_ = unix.Renameat2(unix.AT_FDCWD, name, unix.AT_FDCWD, name+".l", unix.RENAME_EXCHANGE)
				}
			}
		}
		return err
	})
}

// plant makes a symbolic link and removes the name again, until standard input
// ends. Whatever the victim puts there in between is removed as well.
func plant(args []string) error {
	if len(args) != 2 {
		return errors.New("plant TARGET LINK")
	}
	return attack(func() error {
		if err := os.Symlink(args[0], args[1]); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		if err := os.Remove(args[1]); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
}

// attack repeats once, says "ready" after the first time, ends with standard
// input, and says how often it was done.
func attack(once func() error) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = os.Stdin.Read(make([]byte, 1))
	}()
	for n := 1; ; n++ {
		if err := once(); err != nil {
			return err
		}
		if n == 1 {
			fmt.Println("ready")
		}
		select {
		case <-ended:
			fmt.Println(n)
			return nil
		default:
		}
	}
}
