//go:build linux

package sandboxfs_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// A thousand rules, of which some ask for directories, cost no request where
// they say nothing: what is open there the kernel opens by itself. Where a rule
// may match anything each open is one.
func TestRulesCostNoRequestElsewhere(t *testing.T) {
	many := pathresolver.Config{WritePaths: []string{"out"}}
	for i := range 200 {
		many.AskWrite = append(many.AskWrite, fmt.Sprintf("services/s%d/deploy", i))
		many.AskRead = append(many.AskRead, fmt.Sprintf("vaults/v%d", i))
		many.Hide = append(many.Hide, fmt.Sprintf("**/.secret%d", i), fmt.Sprintf("**/key%d_*", i))
		many.Protect = append(many.Protect, fmt.Sprintf("services/s%d/*.lock", i))
	}
	wild := pathresolver.Config{WritePaths: []string{"out"}, AskWrite: []string{"**/deploy"}}
	const opens = 50
	tree := []string{"out/", "src/f=f", "services/s1/deploy/f=f", "services/s1/f=f", "vaults/v1/f=f", "vaults/f=f"}
	for name, o := range arrangements {
		if o.SingleConnection {
			continue // each open is a request there, whatever the rules
		}
		t.Run(name, func(t *testing.T) {
			requests := func(f *fixture, place string) uint64 {
				before := f.v.Stats().Requests
				for range opens {
					file, err := os.Open(f.in(place))
					require.NoError(t, err)
					require.NoError(t, file.Close())
				}
				return f.v.Stats().Requests - before
			}
			f := mount(t, o, many, tree...)
			for _, place := range []string{"src/f", "services/s1/f", "vaults/f"} {
				// What the kernel knows of a name is valid for a time only.
				eventually(t, 60e9, func() bool { return requests(f, place) == 0 }, place+" is opened without being asked for")
			}
			require.GreaterOrEqual(t, requests(f, "services/s1/deploy/f"), uint64(opens), "each open of what has to be asked for")
			require.GreaterOrEqual(t, requests(mount(t, o, wild, tree...), "src/f"), uint64(opens), "a glob that may match anything")
		})
	}
}
