package launcher

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// stepKind is the kind of a step.
type stepKind string

// The kinds of step. Path is always a path inside.
const (
	doDir    stepKind = "dir"    // make a directory
	doFile   stepKind = "file"   // write a read-only file with Data, or Secret
	doLink   stepKind = "link"   // make a symbolic link to From
	doTmpfs  stepKind = "tmpfs"  // mount an empty temporary file system
	doBind   stepKind = "bind"   // show the host's From, recursively, at Path
	doDevice stepKind = "device" // show the host's device From at Path
	doDevpts stepKind = "devpts" // mount a pseudo-terminal file system of its own
	doView   stepKind = "view"   // mount mount Mount of the view
	doMask   stepKind = "mask"   // cover a file or directory with an empty, unreadable one
	doOver   stepKind = "over"   // cover the file Path with the file From, which is inside, too
	doLayer  stepKind = "layer"  // show the layer Layer over the host's From at Path; "" as From: the layer alone
	doSeal   stepKind = "seal"   // make the file system mounted here read-only
	doProc   stepKind = "proc"   // mount /proc for the new process namespace
	doLock   stepKind = "lock"   // make this part of /proc read-only
	doTasks  stepKind = "tasks"  // bound the processes and threads of the process namespace to Size
)

// planStep is one step of the set-up.
type planStep struct {
	Do     stepKind
	Path   string
	From   string
	Mode   uint32
	Write  bool // a bind that may be written
	Owned  bool // belongs to the command's user
	Other  bool // a bind where root's files count as somebody else's
	Maybe  bool // skipped when Path does not exist, or cannot be had from the host
	NoExec bool // a bind from which nothing is executed
	View   int  // which view, 0 is the project's
	Mount  int
	Size   int64 // of a tmpfs, in bytes; of others as Do says
	Data   []byte
	Secret Secret // of a file, instead of Data
	Is     fileID // of a bind or device: what From has to be; zero: whatever it is
	Layer  string // the directory of the host that holds it
}

// String shows the step on one line, for messages and golden tests.
func (s planStep) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s %s", s.Do, s.Path)
	if s.From != "" && s.From != s.Path {
		fmt.Fprintf(&b, " <- %s", s.From)
	}
	if s.Layer != "" {
		fmt.Fprintf(&b, " over=%s", s.Layer)
	}
	if s.Mode != 0 {
		fmt.Fprintf(&b, " mode=%04o", s.Mode)
	}
	if s.Size != 0 {
		fmt.Fprintf(&b, " size=%d", s.Size)
	}
	if s.Do == doView {
		if s.View != 0 {
			fmt.Fprintf(&b, " view=%d", s.View)
		}
		fmt.Fprintf(&b, " mount=%d", s.Mount)
	}
	if s.Data != nil {
		fmt.Fprintf(&b, " (%d bytes)", len(s.Data))
	}
	if s.Secret != nil {
		b.WriteString(" " + s.Secret.String())
	}
	for _, f := range []struct {
		on   bool
		word string
	}{{s.Write, "writable"}, {s.Owned, "owned"}, {s.Other, "as-other"}, {s.Maybe, "if-there"}, {s.NoExec, "no-exec"}} {
		if f.on {
			b.WriteString(" " + f.word)
		}
	}
	return b.String()
}

// String shows the plan, one fact a line.
func (p *runPlan) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("namespaces %s", strings.Join(p.Namespaces, " "))
	for _, s := range p.Steps {
		line("%s", s)
	}
	line("-- in the process namespace")
	for _, s := range p.Inner {
		line("%s", s)
	}
	line("-- the command")
	line("dir      %s", p.Dir)
	line("uid %d gid %d groups %v set=%v", p.ID.UID, p.ID.GID, p.ID.Groups, p.SetID)
	line("writable %s", strings.Join(p.Writable, " "))
	for _, s := range p.Sockets {
		line("socket   %s", s)
	}
	if g := p.Gateway; g != nil {
		line("gateway  address %s mtu %d loopback %v", g.Address, g.MTU, g.Loopback)
	}
	for _, e := range p.Env {
		line("env      %q", e)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Secrets)) {
		line("env      %s=%s", name, p.Secrets[name])
	}
	line("command  %q", p.Command)
	return b.String()
}
