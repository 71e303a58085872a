package skills

import (
	"github.com/pinfold-dev/pinfold/internal/confine"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// confineServer leaves this process what skills need: to read and to change files
// beneath the root, and apply_patch's journals, where there are any. It is a second
// line: had the resolver a hole, the kernel would refuse what lies beyond.
func confineServer(r *pathresolver.Resolver, journals string) error {
	kept := confine.Kept{Trees: []string{r.Root()}, Seen: []string{"/proc"}, Capabilities: confine.ChangesFiles}
	if journals != "" {
		kept.Trees = append(kept.Trees, journals)
	}
	return confine.Process(kept)
}
