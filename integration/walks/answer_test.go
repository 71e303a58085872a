package walks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// answer is what somebody says about a path: an identity, or why not.
type answer struct {
	dev, ino uint64
	text     string
	rule     access.Code
	errno    syscall.Errno
}

func failed(err error) (a answer) {
	var d *pathresolver.DeniedError
	switch {
	case errors.As(err, &d):
		a.rule = d.Rule
	case errors.As(err, &a.errno):
	default:
		a.text = err.Error()
	}
	return a
}

func answered(info fs.FileInfo, err error) answer {
	if err != nil {
		return failed(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	return answer{dev: st.Dev, ino: st.Ino}
}

func opened(f *os.File, err error) answer {
	if err != nil {
		return failed(err)
	}
	defer f.Close()
	return answered(f.Stat())
}

func read(text string, err error) answer {
	if err != nil {
		return failed(err)
	}
	return answer{text: text}
}

func decided(d resolved.Decision) answer {
	return answer{text: fmt.Sprint(d.Allowed, d.Exists, d.Place), rule: d.Rule}
}
