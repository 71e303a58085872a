package permission

import (
	"flag"
	"os"
)

// A change is tested by the same random cases each time, so that a failure is
// the change's own. PINFOLD_LONG=1 draws others, and -rapid.seed=0 does.
func init() {
	if os.Getenv("PINFOLD_LONG") == "" {
		_ = flag.Set("rapid.seed", "1")
	}
}
