package inside

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/gitbeside"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// PolicyFile is where a run shows its policy to what runs inside. Nothing is
// decided by it there: the view holds the policy itself.
const PolicyFile = "/run/pinfold/policy.json"

// Run reports whether this process is inside a run: the policy is shown, on a
// read-only mount, so it is not just a file that somebody left there.
func Run() bool {
	_, err := os.Stat(PolicyFile)
	return err == nil && readOnlyMount(PolicyFile)
}

// Nested reports whether the run that this process is in was given --nested: it alone has
// the device for a view of its own.
func Nested() bool {
	info, err := os.Stat("/dev/fuse")
	return Run() && err == nil && info.Mode()&os.ModeCharDevice != 0
}

// shownPolicy is the content of PolicyFile. Root and the write paths are as
// the resolver resolved them.
type shownPolicy struct {
	Root        cli.PathText   `json:"root"`
	WritePaths  []cli.PathText `json:"write_paths"`
	ReadPaths   []cli.PathText `json:"read_paths,omitempty"` // none: everything
	Hide        []cli.PathText `json:"hide"`
	Mask        []cli.PathText `json:"mask,omitempty"`
	AskRead     []cli.PathText `json:"ask_read,omitempty"`
	Protect     []cli.PathText `json:"protect"`
	AskWrite    []cli.PathText `json:"ask_write,omitempty"`
	Unprotect   []cli.PathText `json:"unprotect"`
	HardLinks   string         `json:"hardlinks"`
	Arrangement string         `json:"arrangement"` // how the view is served

	Beside []gitbeside.Shown `json:"beside,omitempty"` // git directories outside of Root

	// Where the entries above were written, and the lists that the read and
	// write paths are the common part of.
	Origins    map[string]cli.PathText `json:"origins,omitempty"`
	ReadLists  []shownList             `json:"read_lists,omitempty"`
	WriteLists []shownList             `json:"write_lists,omitempty"`
}

// shownList is a resolved.OriginList.
type shownList struct {
	Paths  []cli.PathText `json:"paths"`
	Origin cli.PathText   `json:"origin"`
}

// ShowPolicy is PolicyFile for a run with this policy.
func ShowPolicy(cfg pathresolver.Config, r *pathresolver.Resolver, arrangement string, beside ...gitbeside.Shown) ([]byte, error) {
	shown := shownPolicy{
		Root:        cli.PathText(r.Root()),
		WritePaths:  cli.Convert[cli.PathText](r.WritePaths()),
		ReadPaths:   cli.Convert[cli.PathText](r.ReadPaths()),
		Hide:        cli.Convert[cli.PathText](cfg.Hide),
		Mask:        cli.Convert[cli.PathText](cfg.Mask),
		AskRead:     cli.Convert[cli.PathText](cfg.AskRead),
		Protect:     cli.Convert[cli.PathText](cfg.Protect),
		AskWrite:    cli.Convert[cli.PathText](cfg.AskWrite),
		Unprotect:   cli.Convert[cli.PathText](cfg.Unprotect),
		HardLinks:   cfg.HardLinks.String(),
		Arrangement: arrangement,
		Beside:      beside,
		Origins:     map[string]cli.PathText{},
	}
	from := resolved.Of(r).(interface{ Origins() resolved.Origins }).Origins()
	for field, origin := range from.Entries {
		shown.Origins[field] = cli.PathText(origin)
	}
	shown.ReadLists, shown.WriteLists = showLists(from.Read), showLists(from.Write)
	return json.Marshal(shown)
}

func showLists(lists []resolved.OriginList) []shownList {
	var shown []shownList
	for _, l := range lists {
		shown = append(shown, shownList{Paths: cli.Convert[cli.PathText](l.Paths), Origin: cli.PathText(l.Origin)})
	}
	return shown
}

func readLists(shown []shownList) []resolved.OriginList {
	var lists []resolved.OriginList
	for _, l := range shown {
		lists = append(lists, resolved.OriginList{Paths: cli.Convert[string](l.Paths), Origin: string(l.Origin)})
	}
	return lists
}

// Policy is the policy of the run that this process is inside of, and the git
// directory beside the project if one is shown, which the caller closes. ok is false
// outside of a run.
func Policy() (cfg pathresolver.Config, git *gitbeside.Dir, ok bool, err error) {
	root := os.Getenv("PINFOLD_ROOT")
	if root == "" && !Run() { // some agents start their servers without most variables
		return cfg, nil, false, nil
	}
	data, err := os.ReadFile(PolicyFile)
	if errors.Is(err, fs.ErrNotExist) {
		// Without the file, say what the environment tells: the write paths.
		return pathresolver.Config{
			Root:           root,
			WritePaths:     strings.FieldsFunc(os.Getenv("PINFOLD_WRITE_PATHS"), func(c rune) bool { return c == '\n' }),
			AllowBroadRoot: true,
		}, nil, true, nil
	}
	var p shownPolicy
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err == nil {
		cfg = pathresolver.Config{
			Root:           string(p.Root),
			WritePaths:     cli.Convert[string](p.WritePaths),
			Hide:           cli.Convert[string](p.Hide),
			Mask:           cli.Convert[string](p.Mask),
			AskRead:        cli.Convert[string](p.AskRead),
			Protect:        cli.Convert[string](p.Protect),
			AskWrite:       cli.Convert[string](p.AskWrite),
			Unprotect:      cli.Convert[string](p.Unprotect),
			AllowBroadRoot: true, // the run has decided that
			Origins:        resolved.Origins{Entries: map[string]string{}, Read: readLists(p.ReadLists), Write: readLists(p.WriteLists)},
		}
		if len(p.ReadPaths) > 0 {
			cfg.ReadPaths = cli.Convert[string](p.ReadPaths)
		}
		for field, origin := range p.Origins {
			cfg.Origins.Entries[field] = string(origin)
		}
		cfg.HardLinks, err = pathresolver.ParseHardLinks(p.HardLinks)
	}
	if err != nil {
		return cfg, nil, false, fmt.Errorf("policy of this run: %w", err)
	}
	if len(p.Beside) > 0 {
		if git, err = p.Beside[0].Reopen(); err != nil {
			return cfg, nil, false, fmt.Errorf("git directory of this run: %w", err)
		}
	}
	return cfg, git, true, nil
}
