package launcher

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// allowedEnv are the variables that pass without being asked for. Secrets
// live in the others.
var allowedEnv = []string{
	"PATH", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "LANG", "TZ", "NO_COLOR",
}

// environment is what the command gets. Later entries win.
func environment(c Config, host hostFacts, home string) []string {
	env := map[string]string{}
	var order []string
	set := func(k, v string) {
		if _, ok := env[k]; !ok {
			order = append(order, k)
		}
		env[k] = v
	}
	for _, kv := range host.Env {
		k, v, _ := strings.Cut(kv, "=")
		if slices.Contains(allowedEnv, k) || strings.HasPrefix(k, "LC_") {
			set(k, v)
		}
	}
	if _, ok := env["PATH"]; !ok {
		set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	}
	if c.User != "" {
		set("USER", host.ID.Name)
		set("LOGNAME", host.ID.Name)
	}
	if c.Self != "" {
		set("PATH", env["PATH"]+":"+selfDir)
	}
	set("HOME", home)
	set("TMPDIR", "/tmp")
	set("PWD", cmp.Or(c.Dir, c.Root))
	// git stops at the border between two mounts of the view otherwise.
	set("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1")
	for _, add := range c.Env {
		if k, v, ok := strings.Cut(add, "="); ok {
			set(k, v)
			continue
		}
		if i := slices.IndexFunc(host.Env, func(kv string) bool { return strings.HasPrefix(kv, add+"=") }); i >= 0 {
			set(add, host.Env[i][len(add)+1:])
		}
	}
	// What the command is told about its rights: absolute paths, one a line.
	set("PINFOLD_ROOT", c.Root)
	var writable []string
	for _, v := range c.views() {
		for _, place := range v.WritePaths {
			writable = append(writable, path.Join(v.Root, place))
		}
	}
	set("PINFOLD_WRITE_PATHS", strings.Join(writable, "\n"))

	out := make([]string, 0, len(order))
	for _, k := range order {
		out = append(out, k+"="+env[k])
	}
	return out
}
