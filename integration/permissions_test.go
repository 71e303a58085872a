package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// holding is what one preset or profile is to do on every surface.
type holding struct {
	name    string
	without bool     // leaves its write paths to the caller, and gives none
	with    []string // flags of a session that may write beneath in; nil: there is none
	in      string   // where that may write
	beside  string   // where it may not
	skills  string   // the skills that it has for writing; "": all
}

var holdings = []holding{
	{name: "sandboxed", without: true, with: []string{"-w", "out"}, in: "out", beside: "src"},
	{name: "worker", with: []string{"-w", "out"}, in: "out", beside: "src"},
	{name: "READ_ONLY", without: true},
	{name: "WRITE", with: []string{"-w", "out"}, in: "out", beside: "src"},
	{name: "VERIFICATION", without: true},
	{name: "DESIGN", with: []string{}, in: "docs", beside: "src", skills: "write_file append_file mkdir"},
	{name: "trusted", with: []string{}, in: "src", beside: ".git/hooks"},
}

// The columns of W17's checklist, in its words.
const (
	readInside    = "read in cwd ok"
	readOutside   = "read outside refused"
	noWritePath   = "no write path: every write refused"
	writeInside   = "write path honoured"
	writeBeside   = "write beside it refused"
	pathOutside   = "write path outside cwd rejected"
	unaffected    = "unaffected"
	workerWithout = "no write path: rejected"
)

// TestPermissions is W17: the checklist over every surface, for every preset
// and profile, with the programs as they are shipped. Each refusal stands
// beside the same operation without the guard: TestPermissionsUnguarded.
func TestPermissions(t *testing.T) {
	list := &checklist{}
	for _, s := range grantSurfaces() {
		for _, h := range holdings {
			t.Run(s.name+"/"+h.name, func(t *testing.T) { hold(t, list, s, h) })
		}
		t.Run(s.name+"/yolo", func(t *testing.T) { yolo(t, list, s) })
	}
	list.print()
}

// hold puts one preset or profile to the checklist on one surface.
func hold(t *testing.T, list *checklist, s grantSurface, h holding) {
	tell := func(check string, passes bool, why ...any) {
		list.set(h.name, check, s.name, passes)
		if !passes {
			t.Errorf("%s: %s", check, fmt.Sprint(why...))
		}
	}
	flags := func(more ...string) []string { return append([]string{"--preset", h.name}, more...) }

	at := grantSite(t)
	_, err := s.start(t, at, flags("-w", "../other"))
	tell(pathOutside, startRefused(err, "allowed_write_path '../other' is outside sandbox root '"+at.root+"'"), err) // W10

	if h.name == "worker" { // W8
		_, err := s.start(t, at, flags())
		tell(workerWithout, startRefused(err, "preset 'worker' needs at least one allowed_write_path"), err)
	}
	if h.without { // W4, W5
		g, err := s.start(t, at, flags())
		require.NoError(t, err)
		tell(readInside, reads(g, "src/readme"))
		tell(readOutside, !reads(g, "../outside/secret") && !reads(g, at.base+"/outside/secret") && !reads(g, "src/leak"))
		tell(noWritePath, true)
		refusedAll(t, at, tell, noWritePath, g.writes("src"), g.writes("out"))
	}
	if h.with == nil {
		return
	}
	g, err := s.start(t, at, flags(h.with...))
	require.NoError(t, err)
	tell(readInside, reads(g, "src/readme"))
	tell(readOutside, !reads(g, "../outside/secret") && !reads(g, at.base+"/outside/secret") && !reads(g, "src/leak"))
	tell(writeBeside, true)
	refusedAll(t, at, tell, writeBeside, g.writes(h.beside))
	tell(writeInside, true)
	allowedAll(tell, writeInside, h.skills, g.writes(h.in)) // W6
	if h.name == "trusted" {
		tell(unaffected, true)
		allowedAll(tell, unaffected, h.skills, g.writes("docs"), g.writes("out"))
	}
}

// yolo is the operator's own rights: what would hold it is refused, and `run`
// wants to be told that there shall be no view (P12).
func yolo(t *testing.T, list *checklist, s grantSurface) {
	at := grantSite(t)
	switch s.name {
	case "api":
		p, err := permission.Preset("yolo", permission.Options{Root: at.root})
		require.NoError(t, err)
		held, err := p.Resolver(at.root)
		require.NoError(t, err)
		require.True(t, held.NoView)
		for _, place := range []string{"src/a", "/etc/hosts"} {
			require.True(t, p.Check(t.Context(), access.Request{Action: access.FSWrite, Resource: place}).Allowed(), place)
		}
		list.set("yolo", unaffected, s.name, true)
		return
	case "run":
		g, err := s.start(t, at, []string{"--preset", "yolo", "--no-sandbox"})
		require.NoError(t, err)
		passes := reads(g, "src/readme") && reads(g, "../outside/secret")
		for _, dir := range []string{"src", "../outside"} {
			for _, w := range g.writes(dir) {
				passes = passes && w.do() == nil
			}
		}
		list.set("yolo", unaffected, s.name, passes)
		require.True(t, passes)
	default:
		list.note("yolo", unaffected, s.name, "no view")
	}
	_, err := s.start(t, at, []string{"--preset", "yolo"})
	require.True(t, startRefused(err, "policy 'yolo' is the operator's own rights"), "%v", err)
}

// TestPermissionsUnguarded does what TestPermissions is refused, without the
// guard: all of it succeeds, so that no refusal there was for another reason.
func TestPermissionsUnguarded(t *testing.T) {
	for _, s := range grantSurfaces() {
		t.Run(s.name, func(t *testing.T) {
			at := grantSite(t)
			g := s.unguarded(t, at)
			for _, path := range []string{"src/readme", "../outside/secret", at.base + "/outside/secret", "src/leak"} {
				require.NoError(t, g.read(path), path)
			}
			for _, dir := range []string{"src", "out", ".git/hooks"} {
				for _, w := range g.writes(dir) {
					before := at.snapshot()
					require.NoError(t, w.do(), "%s in %s", w.name, dir)
					require.NotEmpty(t, before.Diff(at.snapshot()), "%s in %s changes something", w.name, dir)
				}
			}
			if s.name != "api" { // its write paths have no program that would start
				_, err := s.start(t, at, []string{"--preset", "sandboxed", "-w", "other"})
				require.NoError(t, err, "a write path beneath the root")
			}
		})
	}
}

func reads(g grant, path string) bool { return g.read(path) == nil }

// refusedAll wants every attempt refused, by the rules, with nothing changed.
func refusedAll(t *testing.T, at *site, tell func(string, bool, ...any), check string, lists ...[]attempt) {
	before := at.snapshot()
	for _, list := range lists {
		for _, w := range list {
			err := w.do()
			if why := w.refused(err); why != "" {
				tell(check, false, w.name, ": ", why)
			}
		}
	}
	require.Empty(t, before.Diff(at.snapshot()), "what is refused changes nothing")
}

func allowedAll(tell func(string, bool, ...any), check, only string, lists ...[]attempt) {
	for _, list := range lists {
		for _, w := range list {
			if only != "" && w.skill && !strings.Contains(" "+only+" ", " "+w.name+" ") {
				continue
			}
			if err := w.do(); err != nil {
				tell(check, false, w.name, ": ", err)
			}
		}
	}
}
