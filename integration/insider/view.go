package insider

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pinfold-dev/pinfold/integration/ops"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// view mounts the view that the first line of standard input describes, says
// "ready" or "refused CODES", and unmounts when standard input ends.
func view([]string) error {
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
	defer r.Close()
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
	_, err = io.Copy(io.Discard, dec.Buffered())
	if err == nil {
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	_, e := v.Unmount()
	return errors.Join(err, e, v.Close())
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
