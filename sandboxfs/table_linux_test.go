package sandboxfs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/internal/resolved"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// Whatever is looked up, moved, linked and removed, in whatever order: a name
// leads to the node that has it, and when the kernel has forgotten all of them
// nothing is left.
func TestTableKeepsItsBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := newTable("base", unix.S_IFDIR)
		known := map[*node]uint64{tab.get(fuseconn.RootID): 0} // lookups, as the kernel counts them
		pick := func(dirs bool) *node {
			var some []*node
			for n := range known {
				if !dirs || n.typ == unix.S_IFDIR {
					some = append(some, n)
				}
			}
			sortByID(some)
			return rapid.SampledFrom(some).Draw(t, "node")
		}
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		t.Repeat(map[string]func(*rapid.T){
			"found": func(t *rapid.T) {
				typ := rapid.SampledFrom([]uint16{unix.S_IFDIR, unix.S_IFREG}).Draw(t, "type")
				id := identity{ino: rapid.Uint64Range(1, 6).Draw(t, "ino")}
				known[tab.found(pick(true), name.Draw(t, "name"), id, typ, typ == unix.S_IFREG && id.ino > 3, true)]++
			},
			"removed": func(t *rapid.T) { tab.removed(pick(true), name.Draw(t, "name")) },
			"renamed": func(t *rapid.T) {
				from, to := nameKey{pick(true), name.Draw(t, "old")}, nameKey{pick(true), name.Draw(t, "new")}
				if n := tab.child(from.dir, from.name); n != nil && below(to.dir, n) {
					return // the kernel refuses
				}
				exchange := rapid.Bool().Draw(t, "exchange")
				if n := tab.child(to.dir, to.name); exchange && n != nil && below(from.dir, n) {
					return
				}
				tab.renamed(from, to, exchange)
			},
			"linked": func(t *rapid.T) {
				n := pick(false)
				if n.typ == unix.S_IFREG {
					tab.linked(n, pick(true), name.Draw(t, "name"), true)
					known[n]++
				}
			},
			"forget": func(t *rapid.T) {
				n := pick(false)
				if n.id != fuseconn.RootID {
					tab.forget(n.id, known[n])
					delete(known, n)
				}
			},
			"": func(t *rapid.T) {
				for key, n := range tab.names {
					dir, err := tab.place(key.dir)
					if err == nil {
						require.Contains(t, tab.places(n), joinPlace(dir, key.name))
					}
				}
				for n := range known {
					if place, err := tab.place(n); err == nil {
						require.True(t, within(place, "base"), place)
						require.NotContains(t, strings.Split(place, "/"), "")
					}
				}
			},
		})
		for n, count := range known {
			if n.id != fuseconn.RootID {
				tab.forget(n.id, count)
			}
		}
		require.Len(t, tab.byID, 1)
		require.Empty(t, tab.names)
		require.Empty(t, tab.links)
		require.Empty(t, tab.more)
		require.Zero(t, tab.get(fuseconn.RootID).kids)
	})
}

func below(n, dir *node) bool {
	for ; n != nil; n = n.parent {
		if n == dir {
			return true
		}
	}
	return false
}

func sortByID(nodes []*node) {
	for i := range nodes {
		for j := i; j > 0 && nodes[j].id < nodes[j-1].id; j-- {
			nodes[j], nodes[j-1] = nodes[j-1], nodes[j]
		}
	}
}

func TestArrange(t *testing.T) {
	tree := map[string]kind{".": kindDir, "a": kindDir, "a/b": kindDir, "f": kindFile, "-x": kindDir}
	at := func(place string) kind { return tree[place] }
	for _, c := range []struct {
		write []string
		want  string
	}{
		{nil, "./ro"},
		{[]string{"."}, "."},
		{[]string{"a"}, "./ro a"},
		{[]string{"a", "a/b"}, "./ro a"},
		{[]string{"a", "-x"}, "./ro -x a"},
		{[]string{"a/b/new/deep"}, "./ro a/b"},
		{[]string{"a/x", "a/b"}, "./ro a"},
		{[]string{"new"}, "."},
		{[]string{"a", "new"}, "."},
		{[]string{"f"}, "./ro f/file"},
		{[]string{"f/beneath"}, "."},
	} {
		require.Equal(t, c.want, describe(arrange(c.write, nil, false, false, at)), "%v", c.write)
	}
	require.Equal(t, ".", describe(arrange([]string{"a"}, nil, true, false, at)))
	require.Equal(t, "./ro", describe(arrange(nil, nil, true, false, at)))
	require.Equal(t, ".", describe(arrange(nil, nil, true, true, at)))
}

// A rule about what is not there costs the rest of the tree nothing, unless it
// could be made at the root.
func TestArrangeWhatIsAskedFor(t *testing.T) {
	tree := map[string]kind{".": kindDir, "a": kindDir, "a/b": kindDir, "f": kindFile}
	at := func(place string) kind { return tree[place] }
	for _, c := range []struct {
		write []string
		ask   resolved.AskPlace
		want  string
	}{
		{nil, resolved.AskPlace{Place: "a", Makes: true}, "./ro a"},
		{nil, resolved.AskPlace{Place: "a"}, "./ro a"},
		{nil, resolved.AskPlace{Place: "f", Makes: true}, "./ro f/file"},
		{nil, resolved.AskPlace{Place: "a/new", Makes: true}, "./ro a"},
		{nil, resolved.AskPlace{Place: "a/new"}, "./ro"},
		{nil, resolved.AskPlace{Place: "a/new/deep", Makes: true}, "./ro"},
		{nil, resolved.AskPlace{Place: "new/deep", Makes: true}, "./ro"},
		{nil, resolved.AskPlace{Place: "new"}, "./ro"},
		{nil, resolved.AskPlace{Place: "f/beneath", Makes: true}, "./ro"},
		{nil, resolved.AskPlace{Place: "new", Makes: true}, "."},
		{nil, resolved.AskPlace{Place: "."}, "."},
		{[]string{"a"}, resolved.AskPlace{Place: "a/new/deep", Makes: true}, "./ro a"},
		{[]string{"a/b"}, resolved.AskPlace{Place: "a/new", Makes: true}, "./ro a"},
	} {
		asks := []resolved.AskPlace{c.ask}
		require.Equal(t, c.want, describe(arrange(c.write, asks, false, false, at)), "%v", c)
		require.Equal(t, ".", describe(arrange(c.write, asks, true, false, at)))
	}
}

func describe(parts []Mount) string {
	var all []string
	for _, p := range parts {
		s := p.Place
		if p.ReadOnly {
			s += "/ro"
		}
		if p.File {
			s += "/file"
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}
