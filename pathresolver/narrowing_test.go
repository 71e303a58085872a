package pathresolver

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/access"
)

// rulesOf are the rules of a configuration over a tree that nobody looks at.
func rulesOf(t require.TestingT, cfg Config) *policy {
	p := &policy{read: newReadPaths(cfg.ReadPaths), hide: mustCompile(t, cfg.Hide), protect: mustCompile(t, cfg.Protect),
		askRead: mustCompile(t, cfg.AskRead), askWrite: mustCompile(t, cfg.AskWrite), gitDir: true}
	r := Resolver{policy: *p}
	var list []writePath
	for _, wp := range cfg.WritePaths {
		list = append(list, writePath{place: wp})
	}
	r.setWritePaths(&findings{}, list)
	return &r.policy
}

// What is to be asked for, and a bound on reading, only take away. No
// operation is allowed with them that is refused without.
func TestAskAndReadPathsOnlyNarrow(t *testing.T) {
	globs := rapid.SliceOfN(genGlob, 0, 2)
	places := rapid.SliceOfN(genPlace, 0, 3)
	ops := rapid.SampledFrom([]access.Op{access.OpRead, access.OpWrite, access.OpCreate, access.OpDelete, access.OpRename, access.OpLink, access.OpMeta})
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{WritePaths: places.Draw(t, "write"), Hide: globs.Draw(t, "hide"), Protect: globs.Draw(t, "protect")}
		if rapid.Bool().Draw(t, "everything") {
			cfg.WritePaths = []string{"."}
		}
		wide := rulesOf(t, cfg)
		cfg.AskRead, cfg.AskWrite, cfg.ReadPaths = globs.Draw(t, "ask_read"), globs.Draw(t, "ask_write"), places.Draw(t, "read")
		narrow := rulesOf(t, cfg)

		op, place, to := ops.Draw(t, "op"), genPlace.Draw(t, "place"), genPlace.Draw(t, "to")
		kind := rapid.SampledFrom([]fs.FileMode{0, fs.ModeDir, fs.ModeSymlink}).Draw(t, "kind")
		exchange := rapid.Bool().Draw(t, "exchange")
		for what, pair := range map[string][2]*DeniedError{
			"decide": {wide.denies(op, place, kind), narrow.denies(op, place, kind)},
			"look":   {wide.decideLook(place), narrow.decideLook(place)},
			"rename": {wide.decideRename(nil, place, to, exchange), narrow.decideRename(nil, place, to, exchange)},
			"link":   {wide.decideLink(nil, place, to), narrow.decideLink(nil, place, to)},
		} {
			require.False(t, pair[0] != nil && pair[1] == nil, "%s %s %s: %v", what, place, to, pair[0])
		}
		require.Equal(t, narrow.allows(access.OpRead, place), narrow.denies(access.OpRead, place, 0) == nil)
		require.Equal(t, narrow.allows(access.OpWrite, place), narrow.denies(access.OpWrite, place, 0) == nil)
		if parent, name := splitPlace(place); narrow.decideLook(parent) == nil {
			require.Equal(t, narrow.verdictAt(place), narrow.verdictIn(parent, name))
		}
		// I6: what a move may carry along stays what it is.
		below := genPlace.Draw(t, "below")
		if narrow.decideRename(nil, place, to, false) == nil {
			from, after := narrow.verdictAt(place+"/"+below), narrow.verdictAt(to+"/"+below)
			require.False(t, from.Hidden && !after.Hidden || from.AskRead && !after.AskRead && !after.Hidden, "%s -> %s", place, to)
			require.False(t, after.Writable && !from.Writable, "%s -> %s", place, to)
		}
	})
}
