package pathresolver

import (
	"context"
	"os"
	"sync"
)

// commits stands in for the lock of a directory, within this process.
var commits sync.Mutex

func lockParent(context.Context, *os.Root, string) (unlock func(), err error) {
	commits.Lock()
	return commits.Unlock, nil
}

// likeAttributes gives out the mode of like.
func likeAttributes(like, out *os.File) error {
	info, err := like.Stat()
	if err != nil {
		return err
	}
	return out.Chmod(info.Mode().Perm())
}
