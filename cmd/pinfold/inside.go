package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// policyFile is where a run shows its policy to what runs inside. Nothing is
// decided by it there: the view holds the policy itself.
const policyFile = "/run/pinfold/policy.json"

// shownPolicy is the content of policyFile. Root and the write paths are as
// the resolver resolved them.
type shownPolicy struct {
	Root       string   `json:"root"`
	WritePaths []string `json:"write_paths"`
	Hide       []string `json:"hide"`
	Protect    []string `json:"protect"`
	Unprotect  []string `json:"unprotect"`
	HardLinks  string   `json:"hardlinks"`
}

// showPolicy is policyFile for a run with this policy.
func showPolicy(cfg pathresolver.Config, r *pathresolver.Resolver) ([]byte, error) {
	return json.Marshal(shownPolicy{
		Root:       r.Root(),
		WritePaths: r.WritePaths(),
		Hide:       cfg.Hide,
		Protect:    cfg.Protect,
		Unprotect:  cfg.Unprotect,
		HardLinks:  cfg.HardLinks.String(),
	})
}

// insidePolicy is the policy of the run that this process is inside of; ok is
// false where there is none.
func insidePolicy() (cfg pathresolver.Config, ok bool, err error) {
	root := os.Getenv("PINFOLD_ROOT")
	if root == "" {
		return cfg, false, nil
	}
	data, err := os.ReadFile(policyFile)
	if errors.Is(err, fs.ErrNotExist) {
		// Without the file, say what the environment tells: the write paths.
		return pathresolver.Config{
			Root:           root,
			WritePaths:     strings.FieldsFunc(os.Getenv("PINFOLD_WRITE_PATHS"), func(c rune) bool { return c == '\n' }),
			AllowBroadRoot: true,
		}, true, nil
	}
	var p shownPolicy
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err == nil {
		cfg = pathresolver.Config{
			Root: p.Root, WritePaths: p.WritePaths,
			Hide: p.Hide, Protect: p.Protect, Unprotect: p.Unprotect,
			AllowBroadRoot: true, // the run has decided that
		}
		cfg.HardLinks, err = pathresolver.ParseHardLinks(p.HardLinks)
	}
	if err != nil {
		return cfg, false, fmt.Errorf("policy of this run: %w", err)
	}
	return cfg, true, nil
}

// policyGiven reports whether a flag describes a policy.
func policyGiven(cmd *cobra.Command) bool {
	for _, name := range []string{"directory", "write-path", "git", "hide", "protect", "unprotect", "hardlinks", "allow-broad-root"} {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// fromHere makes a path that is relative to the working directory relative to
// root. It is not cleaned: what ".." leads to is decided on the way.
func fromHere(unsafePath, root string) (string, error) {
	if unsafePath == "" || filepath.IsAbs(unsafePath) {
		return unsafePath, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	rel, err := filepath.Rel(root, here)
	if err != nil || rel == "." {
		return unsafePath, err
	}
	return rel + "/" + unsafePath, nil
}
