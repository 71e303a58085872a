package policy

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/projectfile"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/permission"
)

// runner makes a policy of what a project says of its runs, behind the door.
type runner interface {
	OfRun(run *policies.ProjectRun, at func(part string) access.Position, like string) (*permission.Policy, error)
}

// byName marks what differs only for an agent that is started by its name, since its
// launch profile gives what the file leaves out.
const byName = " (for 'pinfold claude' and its like)"

// diffRuns says what a change of the part run opens and takes away, as it is where the
// file is trusted: what widens first.
func diffRuns(before, after *project) ([]policies.Change, error) {
	list, err := diffFiles(before, after, func(run policies.ProjectRun) policies.ProjectRun { return run })
	if err != nil {
		return nil, err
	}
	ofAgents, err := diffFiles(before, after, asAgent)
	if err != nil {
		return nil, err
	}
	for _, c := range ofAgents {
		if !slices.Contains(list, c) {
			c.Text += byName
			list = append(list, c)
		}
	}
	list = append(list, diffHost(before, after)...)
	list = append(list, diffLimits(before, after)...)
	slices.SortStableFunc(list, func(a, b policies.Change) int {
		switch {
		case a.Widens == b.Widens:
			return 0
		case a.Widens:
			return -1
		}
		return 1
	})
	return list, nil
}

// asAgent is what holds for an agent that is started by its name: it writes the project
// and commits, unless the file says otherwise or names a preset.
func asAgent(run policies.ProjectRun) policies.ProjectRun {
	if run.Preset != "" {
		return run
	}
	if run.Write == nil {
		run.Write = []string{"."}
	}
	if run.Git == nil {
		yes := true
		run.Git = &yes
	}
	return run
}

// diffFiles compares what as makes of two parts run: files in the project, commits, the
// network and the preset.
func diffFiles(before, after *project, as func(policies.ProjectRun) policies.ProjectRun) ([]policies.Change, error) {
	was, is := as(before.run), as(after.run)
	gitAt := after.place("git")
	if is.Git == nil {
		gitAt = before.place("git")
	}
	list := diffSwitch(commits(&was), commits(&is), gitAt, "git commit, under your name and with what it writes in .git")
	switch {
	case was.Preset != "" && is.Preset == "":
		list = append(list, told(true, before.place("preset"), "preset '%s': no longer held", was.Preset))
	case was.Preset == "" && is.Preset != "":
		list = append(list, told(false, after.place("preset"), "preset '%s': held, was none", is.Preset))
	}
	was.Git, is.Git = nil, nil // it is told
	p, err := ofRun(before, &was, is.Preset)
	if err != nil {
		return nil, err
	}
	q, err := ofRun(after, &is, was.Preset)
	if err != nil {
		return nil, err
	}
	return append(list, behind(p).DiffTo(q)...), nil
}

func ofRun(p *project, run *policies.ProjectRun, like string) (*permission.Policy, error) {
	return policies.Of(permission.Options{Open: true}).(runner).OfRun(run, p.at, like)
}

func commits(run *policies.ProjectRun) bool { return run.Git != nil && *run.Git }

// diffLimits compares what a run may use up: without a bound that is the most.
func diffLimits(before, after *project) []policies.Change {
	var was, is policies.ProjectLimits
	if before.run.Limits != nil {
		was = *before.run.Limits
	}
	if after.run.Limits != nil {
		is = *after.run.Limits
	}
	bytes := func(text string) float64 {
		var n cli.ByteSize
		_ = n.Set(text) // it is validated, or not there
		return float64(n)
	}
	seconds := func(text string) float64 {
		t, _ := time.ParseDuration(text) // likewise
		return t.Seconds()
	}
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	var list []policies.Change
	for _, l := range []struct {
		key, what       string
		was, is         float64 // 0: no bound
		wasText, isText string
	}{
		{"time", "the time of a run", seconds(was.Time), seconds(is.Time), was.Time, is.Time},
		{"pids", "the processes and threads of a run", float64(was.PIDs), float64(is.PIDs), strconv.Itoa(was.PIDs), strconv.Itoa(is.PIDs)},
		{"memory", "the memory of a run", bytes(was.Memory), bytes(is.Memory), was.Memory, is.Memory},
		{"cpu", "the processors of a run", was.CPU, is.CPU, number(was.CPU), number(is.CPU)},
	} {
		at := after.place("limits." + l.key)
		switch {
		case l.was == l.is:
		case l.is == 0:
			list = append(list, told(true, before.place("limits."+l.key), "%s: not bounded, was '%s' at most", l.what, l.wasText))
		case l.was == 0 && l.key == "pids" && l.is > policies.LeastPIDs:
			list = append(list, told(true, at, "%s: '%s' at most, was %d or more", l.what, l.isText, policies.LeastPIDs))
		case l.was == 0:
			list = append(list, told(false, at, "%s: '%s' at most, was not bounded", l.what, l.isText))
		default:
			list = append(list, told(l.is > l.was, at, "%s: '%s' at most, was '%s'", l.what, l.isText, l.wasText))
		}
	}
	return list
}

// diffHost compares what a run gets of the host: paths, a home and variables.
func diffHost(before, after *project) []policies.Change {
	var list []policies.Change
	was, is := &before.run, &after.run
	list = append(list, diffPaths(was.RO, is.RO, after, true)...)
	list = append(list, diffPaths(is.RO, was.RO, before, false)...)
	switch {
	case was.Home == is.Home:
	case is.Home == "":
		list = append(list, told(false, before.place("home"), "the home '%s', outside the project: no longer used", was.Home))
	case was.Home == "":
		list = append(list, told(true, after.place("home"), "reading and writing '%s', outside the project, as the home: allowed, was refused", is.Home))
	default:
		list = append(list, told(true, after.place("home"), "reading and writing '%s', outside the project, as the home: allowed, was '%s'", is.Home, was.Home))
	}
	list = append(list, diffEntries("cache", "your cache '%s'", was.Cache, is.Cache, before, after)...)
	list = append(list, diffEntries("env", "your variable '%s'", was.Env, is.Env, before, after)...)
	list = append(list, diffEntries("secrets", "the secret '%s', as a variable", was.Secrets, is.Secrets, before, after)...)
	list = append(list, diffEntries("secret_files", "the secret '%s', as a file", was.SecretFiles, is.SecretFiles, before, after)...)
	list = append(list, diffEntries("sockets", "the socket '%s', of a program outside", was.Sockets, is.Sockets, before, after)...)
	return append(list, diffEntries("devices", "the device '%s'", was.Devices, is.Devices, before, after)...)
}

// diffEntries are the entries of a list that are passed on by one file and not by another.
func diffEntries(key, what string, was, is []string, before, after *project) (list []policies.Change) {
	for i, entry := range is {
		if !slices.Contains(was, entry) {
			list = append(list, told(true, after.place(fmt.Sprintf("%s[%d]", key, i)), what+": passed on, was not", entry))
		}
	}
	for i, entry := range was {
		if !slices.Contains(is, entry) {
			list = append(list, told(false, before.place(fmt.Sprintf("%s[%d]", key, i)), what+": not passed on, was", entry))
		}
	}
	return list
}

// diffPaths are the paths of the host that one list shows and another does not.
func diffPaths(without, with []string, of *project, widens bool) []policies.Change {
	var list []policies.Change
	for i, p := range with {
		if slices.ContainsFunc(without, func(above string) bool { return beneathHost(p, above) }) {
			continue
		}
		format := "reading '%s', outside the project: refused, was allowed"
		if widens {
			format = "reading '%s', outside the project: allowed, was refused"
			if projectfile.HoldsHome(p) {
				format = "reading '%s', which is all of a home with its keys and tokens: allowed, was refused"
			}
		}
		list = append(list, told(widens, of.place(fmt.Sprintf("ro[%d]", i)), format, p))
	}
	return list
}

// beneathHost compares paths of the host by their text: whose home ~ is differs.
func beneathHost(p, above string) bool {
	p, above = path.Clean(p), path.Clean(above)
	return p == above || strings.HasPrefix(p, strings.TrimSuffix(above, "/")+"/")
}

func diffSwitch(was, is bool, at access.Position, what string) []policies.Change {
	switch {
	case is && !was:
		return []policies.Change{told(true, at, "%s: allowed, was refused", what)}
	case was && !is:
		return []policies.Change{told(false, at, "%s: refused, was allowed", what)}
	}
	return nil
}

func told(widens bool, at access.Position, format string, args ...any) policies.Change {
	verb := "narrows: "
	if widens {
		verb = "widens: "
	}
	text := verb + fmt.Sprintf(format, args...)
	if at.Line > 0 {
		text += fmt.Sprintf(" [%s]", at)
	}
	return policies.Change{Widens: widens, Text: text}
}
