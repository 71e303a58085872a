package permission

import (
	"fmt"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
)

// files checks the patterns of all lists.
func (v *validator) files(fs *FS) {
	if fs == nil {
		return
	}
	v.word("fs.outside", string(fs.Outside), access.Deny.Words())
	v.unprotect(fs.Unprotect)
	for _, list := range []struct {
		key  string
		list []string
	}{{"read", fs.Read}, {"write", fs.Write}, {"ask_read", fs.AskRead}, {"ask_write", fs.AskWrite}, {"hide", fs.Hide}, {"mask", fs.Mask}, {"protect", fs.Protect}} {
		v.patterns("fs."+list.key, list.list, list.key == "write")
		if list.key != "read" && list.key != "write" {
			v.folded("fs."+list.key, list.list)
		}
	}
}

// folded refuses what cannot be read once letter case and invisible characters
// are gone: a rule that takes away must not be dropped for that.
func (v *validator) folded(path string, list []string) {
	for i, p := range list {
		if _, err := parsePattern(p, false); err != nil {
			continue // which patterns has refused
		}
		if _, err := parsePattern(p, true); err != nil {
			at := fmt.Sprintf("%s[%d]", path, i)
			v.bad(at, fmt.Sprintf("%s: '%s' %s without letter case and invisible characters", at, p, err), "")
		}
	}
}

// patterns checks paths and globs. Whether an absolute write path lies beneath
// the root is known only when the policy is compiled.
func (v *validator) patterns(path string, list []string, absolute bool) {
	for i, p := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !v.plain(at, p) || absolute && leadsOut(p) {
			continue
		}
		if _, err := parsePattern(p, false); err != nil {
			v.bad(at, fmt.Sprintf("%s: '%s' %s", at, p, err), "")
		}
	}
}

func (v *validator) tools(tools map[string]Tool) {
	for _, name := range sorted(tools) {
		path, t := join("tools", name), tools[name]
		if name == "" || len(name) > maxName || !v.plain(path, name) {
			v.bad(path, fmt.Sprintf("%q is no tool's name", name), "")
		}
		v.patterns(path+".allowed_paths", t.AllowedPaths, false)
		v.targets(path+".allowed_targets", t.AllowedTargets)
		if _, given := v.src.at[path+".timeout"]; t.Timeout < 0 || t.Timeout > 86400 || given && t.Timeout == 0 {
			v.bad(path+".timeout", fmt.Sprintf("%s: %d is no timeout", path+".timeout", t.Timeout), "want 1 to 86400 seconds")
		}
	}
}

// targets refuses a list of agents that holds a word such as "parent".
func (v *validator) targets(path string, t Targets) {
	if t.Word != "" && (!contains(reservedWords, t.Word) || t.IDs != nil) {
		v.badCode("unknown_word", path, fmt.Sprintf("%s: unknown restriction %q", path, t.Word), didyoumean.Hint(t.Word, reservedWords))
	}
	for i, id := range t.IDs {
		v.agentID(fmt.Sprintf("%s[%d]", path, i), id)
	}
}

func (v *validator) crossSend(x *CrossSend) {
	if x == nil {
		return
	}
	v.word("cross_send.mode", string(x.Mode), Allowlist.words())
	if x.Mode == "" {
		v.bad("cross_send.mode", "key 'cross_send.mode' is missing", "want one of: "+listText(Allowlist.words()))
	}
	for key, list := range map[string][]string{"allowlist": x.Allowlist, "denylist": x.Denylist} {
		for i, p := range list {
			at := fmt.Sprintf("cross_send.%s[%d]", key, i)
			if _, err := parseSessionPattern(p); err != nil {
				v.bad(at, fmt.Sprintf("%s: %s", at, err), "")
			}
		}
	}
}

func (v *validator) approvals(a *Approvals) {
	if a == nil {
		return
	}
	v.word("approvals.default", string(a.Default), Asking("").words())
	for key, d := range map[string]Duration{"fuse_wait": a.FUSEWait, "max_wait": a.MaxWait} {
		if d < 0 {
			v.bad("approvals."+key, fmt.Sprintf("approvals.%s: %s is no time", key, d), "want a positive time such as 20s")
		}
	}
}
