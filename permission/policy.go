package permission

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/trusted"
)

// Policy is what one agent may do: an immutable chain of layers, its
// ancestors' first. What a request gets is the strictest that any layer says.
// Make it with Compile, Load or Preset; make a narrower one with Narrow or
// Child.
type Policy struct {
	groups []group
	hash   hash
	root   string
	always *patternSet // protected whatever the layers say
	open   []string    // the files that programs run by themselves which the chain opens

	trusted *trusted.Set // the others
	given   []Grant
}

// group is the layers of one principal: what its document extends, first, and
// the document itself.
type group struct {
	layers []*layer
	// sealed: what no layer of the group grants is denied. A group that Narrow
	// added only takes away: what it does not speak of it leaves as it was.
	sealed bool
	hash   hash
}

// callerFile is the file name of what a caller adds.
const callerFile = "caller"

// hash identifies what a policy, group or layer says.
type hash [sha256.Size]byte

// Hash identifies what a policy says, in hexadecimal: equal hashes are equal
// policies, in whatever order and layout their documents were written.
func (p *Policy) Hash() string { return hex.EncodeToString(p.hash[:]) }

// Name is the name of the innermost document; what a caller adds has none.
func (p *Policy) Name() string {
	layers := p.layers()
	last := len(layers) - 1
	for last > 0 && layers[last].src.File == callerFile {
		last--
	}
	return layers[last].name
}

// Sources returns the chain's documents, outermost first. They are not to be
// changed.
func (p *Policy) Sources() []*Source {
	var list []*Source
	for _, l := range p.layers() {
		list = append(list, l.src)
	}
	return list
}

func (p *Policy) layers() []*layer {
	var list []*layer
	for _, g := range p.groups {
		list = append(list, g.layers...)
	}
	return list
}

// newPolicy hashes the chain. A group that is in it already is not added again: it
// would take nothing more away.
func newPolicy(root string, always *patternSet, groups []group) *Policy {
	p := &Policy{root: root, always: always}
	h := sha256.New()
	for _, r := range always.rules {
		h.Write([]byte(r.text + "\x00"))
	}
	for _, g := range groups {
		if !g.sealed && slices.ContainsFunc(p.groups, func(o group) bool { return o.hash == g.hash }) {
			continue
		}
		p.groups = append(p.groups, g)
		h.Write(g.hash[:])
	}
	h.Sum(p.hash[:0])
	p.open = opensOf(p.groups)
	p.trusted, _ = trusted.New(p.open)
	return p
}

func newGroup(layers []*layer, sealed bool) group {
	g := group{layers: layers, sealed: sealed}
	h := sha256.New()
	for _, l := range layers {
		h.Write(l.hash[:])
	}
	if sealed {
		h.Write([]byte("sealed"))
	}
	h.Sum(g.hash[:0])
	return g
}

// normal is a document without what changes no verdict: names, sentences, and
// the order of lists.
func normal(d Document) Document {
	d.Name, d.Description, d.Extends = "", "", ""
	d.BashCommands = sortedList(d.BashCommands)
	if d.FS != nil {
		fs := *d.FS
		for _, list := range []*[]string{&fs.Read, &fs.Write, &fs.AskRead, &fs.AskWrite, &fs.Hide, &fs.Mask, &fs.Protect, &fs.Unprotect} {
			*list = sortedList(*list)
		}
		d.FS = &fs
	}
	if d.Network != nil {
		n := *d.Network
		n.Allow = sortedList(n.Allow)
		d.Network = &n
	}
	if d.CrossSend != nil {
		x := *d.CrossSend
		x.Allowlist, x.Denylist = sortedList(x.Allowlist), sortedList(x.Denylist)
		d.CrossSend = &x
	}
	if d.Tools != nil {
		tools := make(map[string]Tool, len(d.Tools))
		for name, t := range d.Tools {
			t.AllowedPaths, t.AllowedTargets.IDs = sortedList(t.AllowedPaths), sortedList(t.AllowedTargets.IDs)
			tools[name] = t
		}
		d.Tools = tools
	}
	if d.Targets != nil {
		targets := make(map[access.Action]Targets, len(d.Targets))
		for a, t := range d.Targets {
			t.IDs = sortedList(t.IDs)
			targets[a] = t
		}
		d.Targets = targets
	}
	return d
}

// sortedList keeps absent absent and empty empty.
func sortedList(list []string) []string {
	if list == nil {
		return nil
	}
	list = slices.Sorted(slices.Values(list))
	return slices.Compact(append(make([]string, 0, len(list)), list...))
}
