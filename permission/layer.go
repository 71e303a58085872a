package permission

import (
	"crypto/sha256"
	"maps"
	"sync"
)

// layer is one compiled document. It never changes.
type layer struct {
	name string
	src  *Source
	hash hash // of the name and of what the document says

	read, write, askRead, askWrite, hide, mask, protect *patternSet
	readList, writeList                                 *rule // the lists themselves, for what no entry covers

	outside  statement
	defaults [16]statement // by Action.index
	targets  [16]*targetRule
	tools    map[string]*toolRule
	network  *networkRule // nil: it says nothing
	bash     statement    // speaks only where bash_policy is none
	acl      *sendACL
}

type targetRule struct {
	Targets
	rule *rule
}

type toolRule struct {
	enabled statement
	paths   *patternSet
	list    *rule // allowed_paths itself
	targets *targetRule
	timeout int // seconds
}

// builtinLayers are compiled once, by their *Source.
var builtinLayers sync.Map

// compileLayer compiles one validated document.
func compileLayer(src *Source) *layer {
	if !isBuiltin(src) {
		return newLayer(src)
	}
	if l, ok := builtinLayers.Load(src); ok {
		return l.(*layer)
	}
	l, _ := builtinLayers.LoadOrStore(src, newLayer(src))
	return l.(*layer)
}

func newLayer(src *Source) *layer {
	doc := &src.Document
	l := &layer{name: src.name(), src: src}
	l.hash = sha256.Sum256(append([]byte(l.name+"\x00"), Encode(normal(*doc))...))
	if fs := doc.FS; fs != nil {
		l.read, l.write = l.patterns("fs.read", fs.Read, false), l.patterns("fs.write", fs.Write, false)
		l.askRead, l.askWrite = l.patterns("fs.ask_read", fs.AskRead, true), l.patterns("fs.ask_write", fs.AskWrite, true)
		l.hide, l.protect = l.patterns("fs.hide", fs.Hide, true), l.patterns("fs.protect", fs.Protect, true)
		l.mask = l.patterns("fs.mask", fs.Mask, true)
		l.readList, l.writeList = l.newRule("fs.read", ""), l.newRule("fs.write", "")
		l.outside = statement{opinionOf(fs.Outside), l.newRule("fs.outside", string(fs.Outside))}
	}
	for a, e := range doc.Defaults {
		l.defaults[plainIndex(a)] = statement{opinionOf(e), l.newRule(join("defaults", string(a)), string(e))}
	}
	for a, t := range doc.Targets {
		l.targets[plainIndex(a)] = &targetRule{t, l.newRule(join("targets", string(a)), t.text())}
	}
	l.tools = make(map[string]*toolRule, len(doc.Tools))
	for name, t := range doc.Tools {
		l.tools[name] = l.compileTool(join("tools", name), t)
	}
	if doc.Network != nil {
		l.network = l.compileNetwork(doc.Network)
	}
	if doc.BashPolicy == "none" {
		l.bash = statement{denied, l.newRule("bash_policy", "none")}
	}
	if doc.CrossSend != nil {
		l.acl = compileACL(*doc.CrossSend, l.newRule("cross_send", string(doc.CrossSend.Mode)))
	}
	return l
}

func (l *layer) compileTool(path string, t Tool) *toolRule {
	r := &toolRule{
		enabled: statement{yesNo(t.Enabled), l.newRule(path, "")},
		paths:   l.patterns(path+".allowed_paths", t.AllowedPaths, false),
		list:    l.newRule(path+".allowed_paths", ""),
		timeout: t.Timeout,
	}
	switch {
	case !t.Enabled:
		r.enabled.rule = l.newRule(path+".enabled", "")
	case t.RequiresConfirmation:
		r.enabled = statement{asked, l.newRule(path+".requires_confirmation", "")}
	}
	if !t.AllowedTargets.absent() {
		r.targets = &targetRule{t.AllowedTargets, l.newRule(path+".allowed_targets", t.AllowedTargets.text())}
	}
	return r
}

func yesNo(yes bool) opinion {
	if yes {
		return allowed
	}
	return denied
}

// toolNames are the tools that the layer spells out.
func (l *layer) toolNames() []string {
	names := make([]string, 0, len(l.tools))
	for name := range maps.Keys(l.tools) {
		names = append(names, name)
	}
	return names
}
