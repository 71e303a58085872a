package insider

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/pinfold-dev/pinfold/integration/ops"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// view mounts the view that the first line of standard input describes, says
// "ready" or "refused CODES", and unmounts when standard input ends. To each
// line after the first it answers with the bytes of heap that it uses and the
// number of nodes that it holds.
func view([]string) (err error) {
	dec := json.NewDecoder(os.Stdin)
	var c ops.ViewConfig
	if err := dec.Decode(&c); err != nil {
		return err
	}
	r, err := pathresolver.New(c.Config)
	if refused := codes(err); refused != "" {
		fmt.Println("refused", refused)
		return err
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	root := os.Geteuid() == 0
	v, err := sandboxfs.New(r, sandboxfs.Options{
		Passthrough:        root,
		DefaultPermissions: root,
		AllowOther:         root,
		SingleConnection:   !root,
		Owner:              sandboxfs.IDs{UID: uint32(os.Getuid()), GID: uint32(os.Getgid())},
	})
	if err != nil {
		return err
	}
	if err := v.Mount(c.Dir); err != nil {
		return errors.Join(err, v.Close())
	}
	fmt.Println("ready")
	for dec.Decode(new(string)) == nil {
		fmt.Println(heap(), v.Stats().Nodes)
	}
	_, err = v.Unmount()
	return errors.Join(err, v.Close())
}

// heap is what is in use after a collection, in bytes.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what a finalizer held
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// codes are those of the violations in err.
func codes(err error) string {
	var c *pathresolver.ConfigError
	var list []string
	if errors.As(err, &c) {
		for _, v := range c.Violations {
			if v.Severity == pathresolver.SeverityError {
				list = append(list, string(v.Code))
			}
		}
	}
	return strings.Join(list, ",")
}
