package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// policyFile is where a run shows its policy to what runs inside. Nothing is
// decided by it there: the view holds the policy itself.
const policyFile = "/run/pinfold/policy.json"

// insideRun reports whether this process is inside a run: its policy is shown,
// and on a read-only mount, so that the file is nobody's leftover.
func insideRun() bool {
	_, err := os.Stat(policyFile)
	return err == nil && readOnlyMount(policyFile)
}

// shownPolicy is the content of policyFile. Root and the write paths are as
// the resolver resolved them.
type shownPolicy struct {
	Root        name   `json:"root"`
	WritePaths  []name `json:"write_paths"`
	ReadPaths   []name `json:"read_paths,omitempty"` // none: everything
	Hide        []name `json:"hide"`
	AskRead     []name `json:"ask_read,omitempty"`
	Protect     []name `json:"protect"`
	AskWrite    []name `json:"ask_write,omitempty"`
	Unprotect   []name `json:"unprotect"`
	HardLinks   string `json:"hardlinks"`
	Arrangement string `json:"arrangement"` // how the view is served

	Beside []shownBeside `json:"beside,omitempty"` // git directories outside of Root

	// Where the entries above were written, and the lists that the read and
	// write paths are the common part of.
	Origins    map[string]name `json:"origins,omitempty"`
	ReadLists  []shownList     `json:"read_lists,omitempty"`
	WriteLists []shownList     `json:"write_lists,omitempty"`
}

// shownList is a pathresolver.OriginList.
type shownList struct {
	Paths  []name `json:"paths"`
	Origin name   `json:"origin"`
}

// showPolicy is policyFile for a run with this policy.
func showPolicy(cfg pathresolver.Config, r *pathresolver.Resolver, arrangement string, beside ...shownBeside) ([]byte, error) {
	shown := shownPolicy{
		Root:        name(r.Root()),
		WritePaths:  convert[name](r.WritePaths()),
		ReadPaths:   convert[name](r.ReadPaths()),
		Hide:        convert[name](cfg.Hide),
		AskRead:     convert[name](cfg.AskRead),
		Protect:     convert[name](cfg.Protect),
		AskWrite:    convert[name](cfg.AskWrite),
		Unprotect:   convert[name](cfg.Unprotect),
		HardLinks:   cfg.HardLinks.String(),
		Arrangement: arrangement,
		Beside:      beside,
		Origins:     map[string]name{},
	}
	from := r.Origins()
	for field, origin := range from.Entries {
		shown.Origins[field] = name(origin)
	}
	shown.ReadLists, shown.WriteLists = showLists(from.Read), showLists(from.Write)
	return json.Marshal(shown)
}

func showLists(lists []pathresolver.OriginList) []shownList {
	var shown []shownList
	for _, l := range lists {
		shown = append(shown, shownList{Paths: convert[name](l.Paths), Origin: name(l.Origin)})
	}
	return shown
}

func readLists(shown []shownList) []pathresolver.OriginList {
	var lists []pathresolver.OriginList
	for _, l := range shown {
		lists = append(lists, pathresolver.OriginList{Paths: convert[string](l.Paths), Origin: string(l.Origin)})
	}
	return lists
}

// insidePolicy is the policy of the run that this process is inside of, and the
// git directory beside the project, if one is shown, which the caller closes; ok
// is false where there is none.
func insidePolicy() (cfg pathresolver.Config, git *gitBeside, ok bool, err error) {
	root := os.Getenv("PINFOLD_ROOT")
	if root == "" {
		return cfg, nil, false, nil
	}
	data, err := os.ReadFile(policyFile)
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
			WritePaths:     convert[string](p.WritePaths),
			Hide:           convert[string](p.Hide),
			AskRead:        convert[string](p.AskRead),
			Protect:        convert[string](p.Protect),
			AskWrite:       convert[string](p.AskWrite),
			Unprotect:      convert[string](p.Unprotect),
			AllowBroadRoot: true, // the run has decided that
			Origins:        pathresolver.Origins{Entries: map[string]string{}, Read: readLists(p.ReadLists), Write: readLists(p.WriteLists)},
		}
		if len(p.ReadPaths) > 0 {
			cfg.ReadPaths = convert[string](p.ReadPaths)
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
		if git, err = p.Beside[0].reopen(); err != nil {
			return cfg, nil, false, fmt.Errorf("git directory of this run: %w", err)
		}
	}
	return cfg, git, true, nil
}
