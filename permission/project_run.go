package permission

import (
	"fmt"
	"path"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/policies"
)

// runName is what decisions call what a project's part run says.
const runName = "run"

// OfRun is the policy of a run that takes a project's part run, as far as it is about
// files and the network: the preset that it names, and its own lists as the caller's.
// Without a preset a run reads the project, writes what is listed and has the network;
// of tools and messages, of which it says nothing, it holds what the preset like says.
// at says where the parts stand; nil: nowhere.
func (o insideOptions) OfRun(run *policies.ProjectRun, at func(part string) access.Position, like string) (*Policy, error) {
	opt := Options(o)
	if run.Preset == "" {
		own, err := runSource(run, at, false)
		if err != nil {
			return nil, err
		}
		builtIn := access.Position{File: "built in"}
		view := &Source{File: callerFile, Document: Document{Version: 1, Name: runName, FS: &FS{Read: []string{"."}}, Network: &Network{Mode: NetworkHost}},
			at: map[string]access.Position{"fs": builtIn, "network": builtIn}}
		rest, err := besidesFiles(like)
		if err != nil {
			return nil, err
		}
		return compileWith(view, opt, append(rest, own)...)
	}
	base, err := Preset(run.Preset, Options{Open: true})
	if err != nil {
		return nil, err
	}
	_, listed := inside{base}.WriteList()
	own, err := runSource(run, at, listed)
	if err != nil {
		return nil, err
	}
	src, err := builtin(run.Preset)
	if err != nil {
		return nil, err
	}
	return compileWith(src, opt, own)
}

// runSource is what a part run says of files and the network, as a document. Where a
// list of write paths holds already, git alone asks for no part of it.
func runSource(run *policies.ProjectRun, at func(part string) access.Position, listed bool) (*Source, error) {
	files := &FS{Hide: run.Hide, Mask: run.Mask, Protect: run.Protect}
	places := map[string]access.Position{}
	place := func(of, part string) {
		if at != nil {
			places[of] = at("run." + part)
		}
	}
	place("fs", "write")
	for i, p := range run.Write {
		place(fmt.Sprintf("fs.write[%d]", i), fmt.Sprintf("write[%d]", i))
		files.Write = append(files.Write, escapeGlob(path.Clean(p)))
	}
	if run.Git != nil && *run.Git && (!listed || len(run.Write) > 0) {
		place(fmt.Sprintf("fs.write[%d]", len(files.Write)), "git")
		files.Write = append(files.Write, ".git")
	}
	for i := range run.Hide {
		place(fmt.Sprintf("fs.hide[%d]", i), fmt.Sprintf("hide[%d]", i))
	}
	for i := range run.Mask {
		place(fmt.Sprintf("fs.mask[%d]", i), fmt.Sprintf("mask[%d]", i))
	}
	for i := range run.Protect {
		place(fmt.Sprintf("fs.protect[%d]", i), fmt.Sprintf("protect[%d]", i))
	}
	doc := Document{Version: 1, Name: runName, FS: files}
	switch {
	case run.Net == "none":
		doc.Network = &Network{Mode: NetworkNone}
		place("network", "net")
	case run.Net != "" || run.AllowHost != nil:
		doc.Network = &Network{Mode: NetworkAllow, Allow: run.AllowHost}
		place("network", "net")
		for i := range run.AllowHost {
			place(fmt.Sprintf("network.allow[%d]", i), fmt.Sprintf("allow_host[%d]", i))
		}
	}
	src, err := FromDocument(callerFile, doc)
	if err != nil {
		return nil, err
	}
	src.at = places
	return src, nil
}

// besidesFiles is what a preset says of everything but files and the network.
func besidesFiles(preset string) ([]*Source, error) {
	src, err := builtin(preset)
	if src == nil || err != nil {
		return nil, err
	}
	chain, err := extended(src, nil)
	if err != nil {
		return nil, err
	}
	rest := make([]*Source, len(chain))
	for i, s := range chain {
		doc := s.Document
		doc.Extends, doc.FS, doc.Network = "", nil, nil
		rest[i] = &Source{File: callerFile, Document: doc, at: s.at}
	}
	return rest, nil
}
