package launcher

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// runPlan is everything that the set-up will do, in order, decided before
// anything is done.
type runPlan struct {
	// Namespaces are the kinds of namespace the set-up helper gets, by the names of
	// /proc/self/ns. Init gets a "pid" namespace of its own besides.
	Namespaces []string
	Steps      []planStep // carried out by the set-up helper, with the host still in sight
	Inner      []planStep // carried out by init, which owns the new /proc

	Command  []string
	Dir      string
	Env      []string
	Secrets  map[string]Secret // further variables
	Root     string
	Beside   []string // where the other views are shown
	ID       userID
	SetID    bool     // switch to ID first
	Writable []string // what Landlock lets the command change, beside the project
	Sockets  []string // those of the host that it may connect to

	Gateway *gatewayPlan // nil: no network is made

	Watch          bool // tell the supervisor what the command tries to change
	Hear           bool // have programs that use inotify(7) hear of what the host changes
	WaitBackground bool
	Nested         bool
	HangMillis     int64
	Time           time.Duration // after which the set-up helper ends everything inside; 0: never
}

// newPlan decides what to do for c on host. It is pure: it reads no file.
func newPlan(c Config, host hostFacts) (*runPlan, error) {
	if len(c.Command) == 0 || c.Command[0] == "" {
		return nil, &SetupError{Step: "read the command", Err: errors.New("no command given")}
	}
	if c.User != "" && !host.Privileged {
		return nil, &SetupError{Step: "switch user", Err: errors.New("only root can run the command as another user")}
	}
	p := &runPlan{
		Namespaces: []string{"mnt", "ipc", "uts"},
		Command:    c.Command,
		Root:       c.Root,
		Dir:        c.Dir,
		Secrets:    c.Secrets,
		ID:         host.ID,
		SetID:      host.Privileged,

		Watch:          watchable(c),
		Hear:           !c.Nested, // programs of a sandbox inside may want a listener of their own
		WaitBackground: c.WaitBackground,
		Nested:         c.Nested,
		HangMillis:     c.HangTimeout.Milliseconds(),
	}
	if !host.Privileged {
		p.Namespaces = append([]string{"user"}, p.Namespaces...)
	}
	if err := p.network(c, host); err != nil {
		return nil, err
	}
	if p.Dir == "" {
		p.Dir = p.Root
	}
	if p.HangMillis <= 0 {
		p.HangMillis = 10_000
	}
	if err := checkPlaces(c, host); err != nil {
		return nil, err
	}
	for _, v := range c.Beside {
		p.Beside = append(p.Beside, v.Root)
	}
	if err := checkSecrets(c, host); err != nil {
		return nil, err
	}
	b := builder{plan: p, host: host, made: map[string]bool{"/": true}}
	b.system()
	b.machine()
	b.devices(c.Nested)
	b.private(c)
	home := b.home(c)
	if err := b.readOnly(home); err != nil {
		return nil, err
	}
	b.layers()
	b.readOnlyParents(c, home)
	b.self(c.Self)
	if err := b.cover(c, home); err != nil {
		return nil, err
	}
	b.place()
	b.files(c.Files)
	b.secrets(c.SecretFiles)
	b.loginPath(c.Self)
	b.names(c)
	b.sockets()
	for i, v := range c.views() {
		b.view(i, v)
	}
	b.proc()
	b.seal()
	p.Env = environment(c, host, home)
	return p, nil
}

// watchable reports whether somebody wants to hear of refusals that the view
// does not see: those in the mounts that the kernel keeps read-only.
func watchable(c Config) bool {
	return c.OnRefusal != nil && c.View != nil &&
		slices.ContainsFunc(c.View.Mounts(), func(p sandboxfs.Mount) bool { return p.ReadOnly })
}

// shows reports whether a file of Config.Files is at p.
func (p *runPlan) shows(at string) bool {
	return slices.ContainsFunc(p.Steps, func(s planStep) bool { return s.Do == doFile && s.Path == at })
}

// builder collects steps. made knows the directories that exist by then.
type builder struct {
	plan  *runPlan
	host  hostFacts
	made  map[string]bool
	items []item
	seals []string // temporary file systems that become read-only at the end
}

// item is something to be shown at path. Items are put in place in the order
// of their paths, so that what lies deeper is never covered by what is above.
type item struct {
	path string
	emit func()
}

func (b *builder) item(p string, emit func()) {
	b.items = append(b.items, item{p, emit})
}

func (b *builder) place() {
	slices.SortStableFunc(b.items, func(x, y item) int { return strings.Compare(x.path, y.path) })
	for _, it := range b.items {
		it.emit()
	}
}

func (b *builder) add(s planStep) { b.plan.Steps = append(b.plan.Steps, s) }

// dir makes a directory and its parents in what has been built so far.
func (b *builder) dir(p string) { b.dirOf(p, 0o755) }

// dirOf makes one of another mode, unless it is there.
func (b *builder) dirOf(p string, mode uint32) {
	if b.made[p] {
		return
	}
	b.dir(path.Dir(p))
	b.made[p] = true
	b.add(planStep{Do: doDir, Path: p, Mode: mode})
}

// mountpoint makes a directory to mount on, unless a tree of the host that is
// shown read-only already has it. In Config.Home, which is written, it stays.
func (b *builder) mountpoint(p string) {
	if s, ok := b.shown(p); !ok || s.Write {
		b.dir(p)
	}
}

// shown finds the innermost tree of the host that p lies in.
func (b *builder) shown(p string) (last planStep, ok bool) {
	for _, s := range b.plan.Steps {
		if (s.Do == doBind || s.Do == doLayer || s.Do == doTmpfs) && beneath(p, s.Path) {
			last, ok = s, s.Do != doTmpfs
		}
	}
	return last, ok
}

// tmpfs mounts a temporary file system that the command may write.
func (b *builder) tmpfs(p string, mode uint32, size int64) {
	b.mountpoint(p)
	b.add(planStep{Do: doTmpfs, Path: p, Mode: mode, Owned: mode != 0o1777, Size: size})
	b.plan.Writable = append(b.plan.Writable, p)
}

func (b *builder) seal() {
	slices.Reverse(b.seals)
	for _, p := range append(b.seals, "/") {
		b.add(planStep{Do: doSeal, Path: p})
	}
}

// beneath reports whether p is dir or lies beneath it.
func beneath(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// systemPlaces are no places for a home, which is shown writable: what is
// written there reaches the host's kernel, services or programs.
var systemPlaces = []string{"/proc", "/sys", "/dev", "/run", "/etc", "/usr", "/boot", "/bin", "/sbin", "/lib", "/lib64"}

// checkHome refuses a --home that is, holds, or lies in a system directory.
func checkHome(home string) error {
	for _, s := range systemPlaces {
		if home != "" && (beneath(home, s) || beneath(s, home)) {
			return &SetupError{Step: "show --home", Err: fmt.Errorf("%q would make %s writable", home, s),
				Fix: "choose a directory of your own for --home"}
		}
	}
	return nil
}

// checkRoot refuses what is no place for a view.
func checkRoot(step, root string) error {
	if !path.IsAbs(root) || path.Clean(root) != root {
		return &SetupError{Step: step, Err: fmt.Errorf("root %q is not a clean absolute path", root)}
	}
	for _, special := range []string{"/proc", "/sys", "/dev"} {
		if beneath(root, special) {
			return &SetupError{Step: step, Err: fmt.Errorf("%q lies in %s, which is not a place for files", root, special)}
		}
	}
	return nil
}

// checkBeside refuses trees of which one could be reached through another.
func checkBeside(c Config, host hostFacts) error {
	for i, v := range c.Beside {
		const step = "place the tree beside the project"
		if err := checkRoot(step, v.Root); err != nil {
			return err
		}
		others := []string{c.Root}
		for _, w := range c.Beside[:i] {
			others = append(others, w.Root)
		}
		if host.HomeDir != "" {
			others = append(others, host.HomeDir)
		}
		for _, other := range others {
			if beneath(v.Root, other) || beneath(other, v.Root) {
				return &SetupError{Step: step, Err: fmt.Errorf("%q and %q lie within each other, so one could be written through the other", v.Root, other)}
			}
		}
	}
	return nil
}

// checkPlaces refuses what would make two rules speak about one file.
func checkPlaces(c Config, host hostFacts) error {
	if err := checkRoot("place the project", c.Root); err != nil {
		return err
	}
	if c.Root == "/" {
		return &SetupError{Step: "place the project", Err: errors.New("the whole file system cannot be the project"),
			Fix: "choose a directory beneath it with -C"}
	}
	if err := checkHome(host.HomeDir); err != nil {
		return err
	}
	if h := host.HomeDir; h != "" && (beneath(h, c.Root) || beneath(c.Root, h)) {
		return &SetupError{Step: "show the home", Err: fmt.Errorf("%q and the project %q lie within each other, so one could be written through the other", h, c.Root),
			Fix: "choose a directory beside the project for --home"}
	}
	if err := checkBeside(c, host); err != nil {
		return err
	}
	if err := checkLayers(c, host); err != nil {
		return err
	}
	for f := range c.Files {
		if !inRun(f) {
			return &SetupError{Step: "place a file", Err: fmt.Errorf("%q is not a clean path beneath /run", f)}
		}
	}
	for at := range c.Sockets {
		if !inRun(at) {
			return &SetupError{Step: "place a socket", Err: fmt.Errorf("%q is not a clean path beneath /run", at)}
		}
	}
	for _, ro := range host.RO {
		switch {
		case ro.Path == "/" || beneath(ro.Path, "/proc") || beneath(ro.Path, "/sys") || beneath(ro.Path, "/dev"):
			return &SetupError{Step: "show --ro", Err: fmt.Errorf("%q cannot be shown", ro.Path), Fix: "name the directory that is needed"}
		case beneath(ro.Path, c.Root):
			return &SetupError{Step: "show --ro", Err: fmt.Errorf("%q lies in the project, whose own rules hold there", ro.Path),
				Fix: "leave the --ro out: the project can be read already"}
		}
	}
	return nil
}

// inRun reports whether p is a place for what the caller adds.
func inRun(p string) bool { return path.Clean(p) == p && strings.HasPrefix(p, "/run/") }
