package inside

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// RulesFile is where a run shows what its rules mean for a model, in plain words.
const RulesFile = "/run/pinfold/rules.md"

// RulesAbout is what Rules needs to know beside the policy.
type RulesAbout struct {
	Asks      bool // somebody answers what is asked for
	NoNetwork bool
	OnlyHosts bool     // the network leads to Hosts and nowhere else
	Hosts     []string // as --allow-host has them
	AfterRead []string // globs of files before whose first use the network is closed
	KeptHome  bool     // the home is kept from run to run
	Caches    []string // that are shown with a layer which is kept, by the names of --cache
	Given     []string // what of the host it was given by name, beside files: secrets, sockets, devices
}

// Rules tells a model what it may do in a run with this policy, so that it neither
// guesses what a refusal means nor tries to get round it. It is a page at most.
func Rules(cfg pathresolver.Config, r *pathresolver.Resolver, about RulesAbout) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("You run inside pinfold, a sandbox for files. Its rules hold for you and for every command that you start.")
	line("")
	line("- Project: %s. Of the host's other files only system directories are there, read-only.", quoted(r.Root()))
	if paths := r.ReadPaths(); len(paths) > 0 {
		line("- Of the project you may read: %s.", quotedList(paths))
	}
	switch paths := r.WritePaths(); {
	case len(paths) == 0:
		line("- You may write nothing in the project.")
	case len(paths) == 1 && paths[0] == ".":
		line("- You may write all of the project, but not what programs run or trust by themselves: git's hooks and configuration, and the settings of agents and editors such as .claude, .mcp.json, .vscode and .envrc.")
	default:
		line("- In the project you may write only beneath: %s.", quotedList(paths))
	}
	if len(cfg.Hide) > 0 {
		line("- Hidden names, which look as if they did not exist and cannot be made: %s.", quotedList(cfg.Hide))
	}
	if len(cfg.Mask) > 0 {
		line("- Masked names, which you read with stand-ins of the same length in the place of values, and cannot change: %s.", quotedList(cfg.Mask))
	}
	if asked := append(append([]string{}, cfg.AskRead...), cfg.AskWrite...); len(asked) > 0 && about.Asks {
		line("- A person is asked, and may take a while to answer, about: %s.", quotedList(asked))
	}
	if about.KeptHome {
		line("- $HOME and /tmp may be written. $HOME is kept for the next run, /tmp is not.")
	} else {
		line("- $HOME and /tmp may be written, and are gone when this run ends.")
	}
	if len(about.Caches) > 0 {
		line("- The caches of these are there, and what you add is kept for the next run in this project: %s.", strings.Join(about.Caches, ", "))
	}
	if len(about.Given) > 0 {
		line("- Given to you by name: %s. What a secret holds is not for files, messages or logs.", quotedList(about.Given))
	}
	switch {
	case about.NoNetwork:
		line("- There is no network.")
	case about.OnlyHosts && len(about.Hosts) == 0:
		line("- The network has no host but localhost, which is this run's own. Every other connection is refused.")
	case about.OnlyHosts:
		line("- The network leads to these hosts, and the others are refused at once: %s. localhost is this run's own. If the task needs another host, say so to your user, with its name and port: they can start you again with `--allow-host NAME:PORT`.", hostList(about.Hosts))
	}
	if len(about.AfterRead) > 0 {
		line("- Before the first of these names is read or used otherwise, the network is closed for the rest of the run: %s. Do first what needs the network.", quotedList(about.AfterRead))
	}
	line("- A refusal reads \"Read-only file system\" (EROFS), \"Permission denied\", \"No such file or directory\" for a hidden name, or just that a tool failed to write. It is a rule and not a fault: do not try again in another way, by chmod, sudo, a link or another tool.")
	line("- `pinfold why PATH` says which rule refused a path, and what would be allowed.")
	if about.Asks {
		line("- `pinfold requests new PATH` asks for leave to write a path. Without an answer, go on with what you may do.")
	} else {
		line("- Nobody can give leave during this run. If the task needs a path that is refused, say so to your user, with the path: they can open it while you run, with `pinfold allow RUN -w PATH`, or start you again with `-w PATH`.")
	}
	return []byte(b.String())
}

const (
	maxRulesNames = 20  // of a list that are told
	maxRulesName  = 120 // bytes of a name
)

// hostList is quotedList for hosts.
func hostList(hosts []string) string {
	return strings.Replace(quotedList(hosts), "(`pinfold why PATH` tells)", "that are not listed here", 1)
}

// quotedList is as much of a list as a model needs.
func quotedList(names []string) string {
	more := ""
	if len(names) > maxRulesNames {
		more = fmt.Sprintf(" and %d more (`pinfold why PATH` tells)", len(names)-maxRulesNames)
		names = names[:maxRulesNames]
	}
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = quoted(name)
	}
	return strings.Join(words, ", ") + more
}

// quoted is a name that cannot end its quotation or its line.
func quoted(name string) string {
	name = strings.ReplaceAll(pathresolver.EscapePath(name), "`", "'")
	if len(name) > maxRulesName {
		name = strings.ToValidUTF8(name[:maxRulesName], "") + "..."
	}
	return "`" + name + "`"
}
