package launcher

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

const selfDir = "/run/pinfold/bin"

// system shows the system directories read-only. Where the command keeps
// root's uid, root's files in them count as somebody else's, so that it reads
// what everybody may read and nothing more.
func (b *builder) system() {
	asOther := b.plan.ID.UID == 0
	for _, e := range b.host.System {
		b.item(e.Path, func() { b.show(e, asOther) })
	}
	// DNS works where /etc/resolv.conf leads into /run.
	if r := b.host.ResolvConf; r != "" && !inSystem(b.host.System, r) && b.plan.Gateway == nil {
		b.item(r, func() { b.show(hostEntry{Path: r}, false) })
	}
}

// show makes a host's tree, file or link visible at its own path, read-only.
func (b *builder) show(e hostEntry, asOther bool) { b.showAt(e, e.Path, asOther) }

func (b *builder) showAt(e hostEntry, from string, asOther bool) {
	// It may be there already. Of a system directory that is named as a whole root
	// gets what everybody may read, as without; what else is meant has to be named.
	if s, ok := b.shown(e.Path); ok && !s.Write && (asOther || !s.Other || s.Path == e.Path) {
		return
	}
	b.mountpoint(path.Dir(e.Path))
	if e.Link != "" {
		b.add(planStep{Do: doLink, Path: e.Path, From: e.Link})
		return
	}
	b.add(planStep{Do: doBind, Path: e.Path, From: from, Other: asOther})
}

// devices makes a minimal /dev. A device is shown on a read-only mount: it
// can be used, but its mode and owner cannot be changed for the host.
func (b *builder) devices(nested bool) {
	names := []string{"null", "zero", "full", "random", "urandom", "tty"}
	if nested {
		names = append(names, "fuse")
	}
	b.item("/dev", func() {
		b.dir("/dev")
		b.add(planStep{Do: doTmpfs, Path: "/dev", Mode: 0o755, Size: setUpSize})
		b.seals = append(b.seals, "/dev")
		for _, n := range names {
			b.add(planStep{Do: doDevice, Path: "/dev/" + n, From: "/dev/" + n})
		}
		for _, l := range [][2]string{
			{"ptmx", "pts/ptmx"}, {"fd", "/proc/self/fd"},
			{"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
		} {
			b.add(planStep{Do: doLink, Path: "/dev/" + l[0], From: l[1]})
		}
		for _, d := range b.host.Devices {
			b.dir(path.Dir(d.Path))
			b.add(planStep{Do: doDevice, Path: d.Path, From: d.From, Is: d.Is})
		}
		b.dir("/dev/pts")
		b.add(planStep{Do: doDevpts, Path: "/dev/pts"})
	})
}

// temporary are the directories that everybody may write, and that end with
// the run.
var temporary = []string{"/tmp", "/var/tmp", "/dev/shm"}

// private gives the temporary directories.
func (b *builder) private(c Config) {
	for _, p := range temporary {
		part := int64(smallPart)
		if p == "/tmp" {
			part = largePart
		}
		b.item(p, func() { b.tmpfs(p, 0o1777, tmpSize(c, b.host, part)) })
	}
}

// home shows Config.Home, or makes a private one, and returns its path inside.
func (b *builder) home(c Config) string {
	own := b.host.ID.Home
	// Daemons' users have no home of their own.
	if own == "" || own == "/" || own == "/tmp" || inSystem(b.host.System, own) && !slices.Contains(b.host.Homes, own) {
		own = ""
	}
	if h := b.host.HomeDir; h != "" {
		// At the path of the home outside, which programs learn in more ways
		// than by $HOME, and which their settings name. Where that is no place
		// for it, or lies in the project, whose rules hold there, at its own.
		at := own
		if own == "" || beneath(own, c.Root) {
			at = h
		}
		b.item(at, func() {
			b.mountpoint(at)
			b.add(planStep{Do: doBind, Path: at, From: h, Write: true})
			b.plan.Writable = append(b.plan.Writable, at)
		})
		return at
	}
	if own == "" {
		return "/tmp"
	}
	if !beneath(own, c.Root) { // otherwise the view shows it
		b.item(own, func() { b.tmpfs(own, 0o700, tmpSize(c, b.host, largePart)) })
	}
	return own
}

// readOnly shows further paths of the host, as they are: they were asked for.
// What lies in Config.Home is shown where that is.
func (b *builder) readOnly(home string) error {
	for _, e := range b.host.RO {
		from := e.Path
		if e.Path = b.inHome(from, home); b.host.HomeDir != "" && e.Path == home {
			return &SetupError{Step: "show --ro", Err: fmt.Errorf("%q is where --home is shown", from), Fix: "name what is needed in it"}
		}
		b.item(e.Path, func() { b.showAt(e, from, false) })
	}
	return nil
}

// self shows the running program, so that "pinfold why" works inside.
func (b *builder) self(name string) {
	if name != "" && b.host.Self != "" {
		b.item(selfDir, func() {
			b.dir(selfDir)
			b.add(planStep{Do: doBind, Path: path.Join(selfDir, name), From: b.host.Self})
		})
	}
}

// loginPath has login shells find the running program, too: /etc/profile sets PATH
// anew. What the command sees of that file is the host's with one line more.
func (b *builder) loginPath(name string) {
	if name == "" || b.host.Self == "" || len(b.host.Profile) == 0 {
		return
	}
	const from = "/run/pinfold/profile"
	line := "\nPATH=\"$PATH:" + selfDir + "\" # of pinfold\n"
	b.add(planStep{Do: doFile, Path: from, Mode: 0o444, Data: append(slices.Clip(b.host.Profile), line...)})
	b.add(planStep{Do: doOver, Path: profileFile, From: from})
}

// files writes the caller's files.
func (b *builder) files(files map[string][]byte) {
	for _, p := range slices.Sorted(maps.Keys(files)) {
		b.dir(path.Dir(p))
		b.add(planStep{Do: doFile, Path: p, Mode: 0o444, Data: files[p]})
	}
}

// sockets shows the caller's sockets. A read-only mount does not keep anybody
// from connecting to one.
func (b *builder) sockets() {
	for _, s := range b.host.Sockets {
		// gpg looks for its agent's only in a directory that is its user's alone.
		b.dirOf(path.Dir(s.Path), 0o700)
		b.add(planStep{Do: doBind, Path: s.Path, From: s.From, Is: s.Is})
		b.plan.Sockets = append(b.plan.Sockets, s.Path)
	}
}

// view adds the mounts of a view, parents first.
func (b *builder) view(nth int, v Placed) {
	b.mountpoint(v.Root)
	if v.View == nil {
		return
	}
	for i, m := range v.View.Mounts() {
		b.add(planStep{Do: doView, Path: path.Join(v.Root, m.Place), View: nth, Mount: i})
	}
}

// readOnlyParents makes the directories between a writable temporary file
// system and what is shown in it read-only: what the command writes beside the
// project would be lost at the end, so it is told so at once (EROFS).
func (b *builder) readOnlyParents(c Config, home string) {
	var roots []string
	for _, v := range c.views() {
		roots = append(roots, v.Root)
	}
	shown := append(slices.Clone(roots), home)
	for _, e := range b.host.RO {
		shown = append(shown, e.Path)
	}
	for _, tmp := range temporary {
		for _, p := range shown {
			b.readOnlyParent(tmp, p)
		}
	}
	// A private home is for writing, also beside what --ro shows there.
	if b.host.HomeDir == "" && home != "/tmp" {
		for _, root := range roots {
			b.readOnlyParent(home, root)
		}
	}
}

func (b *builder) readOnlyParent(tmp, p string) {
	rest, ok := strings.CutPrefix(p, tmp+"/")
	first, _, deeper := strings.Cut(rest, "/")
	top := tmp + "/" + first
	if !ok || !deeper {
		return
	}
	b.item(top, func() {
		if _, shown := b.shown(top); shown || b.made[top] {
			return
		}
		b.dir(top)
		b.add(planStep{Do: doTmpfs, Path: top, Mode: 0o755, Size: setUpSize})
		b.seals = append(b.seals, top)
	})
}

// proc mounts /proc and takes from it what reaches beyond the run: kernel
// settings (core_pattern runs a host program), interrupts, memory, keys.
func (b *builder) proc() {
	b.plan.Inner = append(b.plan.Inner, planStep{Do: doProc, Path: "/proc"})
	if n := b.host.Tasks; n > 0 {
		b.plan.Inner = append(b.plan.Inner, planStep{Do: doTasks, Path: pidMax, Size: int64(n), Maybe: !b.host.TasksAsked})
	}
	b.dir("/proc")
	if b.plan.Nested && b.plan.ID.UID != 0 {
		// A /proc of which parts are covered cannot be mounted again by a
		// sandbox inside. An ordinary user owns nothing in those parts.
		return
	}
	for _, n := range []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "driver", "dynamic_debug", "mtrr"} {
		b.plan.Inner = append(b.plan.Inner, planStep{Do: doLock, Path: "/proc/" + n, Maybe: true})
	}
	masked := []string{"keys", "key-users", "acpi", "scsi", "kcore"}
	if b.plan.ID.UID == 0 {
		// Root owns these, so their mode does not keep it out.
		masked = append(masked, "kmsg", "timer_list", "sched_debug", "latency_stats", "slabinfo", "vmallocinfo",
			"pagetypeinfo", "kpagecount", "kpageflags", "kpagecgroup")
	}
	for _, n := range masked {
		b.plan.Inner = append(b.plan.Inner, planStep{Do: doMask, Path: "/proc/" + n, Maybe: true})
	}
}
