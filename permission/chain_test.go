package permission

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/globs"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/internal/trusted"
)

// checks runs a property: 100,000 times in the long mode.
func checks(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	if !long {
		rapid.Check(t, property)
		return
	}
	for range 1000 { // rapid has no option in code: a thousand runs of its hundred
		rapid.Check(t, property)
	}
}

func genPolicy(t *rapid.T, label string) *Policy {
	src, err := FromDocument(label, genDocument.Draw(t, label))
	require.NoError(t, err)
	p, err := Compile(src, Options{})
	require.NoError(t, err)
	return p
}

// ask puts one request to a policy, with the registry of the property tests.
func ask(p *Policy, r access.Request) access.Decision {
	return Enforcer{p, kin}.Check(context.Background(), r)
}

func rank(d access.Decision) opinion { return opinionOf(d.Effect) }

// M5: whatever is added to a chain, nothing is allowed that was not before, and
// what is added cannot do more alone either.
func TestChildNeverExceedsParent(t *testing.T) {
	checks(t, func(t *rapid.T) {
		parent, own := genPolicy(t, "parent"), genPolicy(t, "child")
		if own.Sources()[0].Document.OperatorOnly {
			return
		}
		child, excess, err := parent.Child(own, Clamp)
		require.NoError(t, err)
		layer, err := FromDocument("layer", genDocument.Draw(t, "layer"))
		require.NoError(t, err)
		narrow, _, err := child.Narrow(layer, Clamp)
		require.NoError(t, err)
		for range 5 {
			r := genRequest.Draw(t, "request")
			above, self, got, less := ask(parent, r), ask(own, r), ask(child, r), ask(narrow, r)
			require.GreaterOrEqual(t, rank(got), rank(above))
			require.GreaterOrEqual(t, rank(got), rank(self))
			require.GreaterOrEqual(t, rank(less), rank(got))
			// M6: what the parent takes away is reported, but where the two
			// overlap only in part.
			_, _, rejected := parent.Child(own, Reject)
			require.Equal(t, len(excess) > 0, rejected != nil)
		}
	})
}

// Narrow is idempotent.
func TestNarrowTwiceIsOnce(t *testing.T) {
	checks(t, func(t *rapid.T) {
		p := genPolicy(t, "policy")
		layer, err := FromDocument("layer", genDocument.Draw(t, "layer"))
		require.NoError(t, err)
		once, _, err := p.Narrow(layer, Clamp)
		require.NoError(t, err)
		twice, _, err := once.Narrow(layer, Clamp)
		require.NoError(t, err)
		require.True(t, once.Hash() == twice.Hash())
		require.Equal(t, once.Hash(), twice.Hash())
	})
}

// The order of rules in a layer does not matter.
func TestOrderDoesNotMatter(t *testing.T) {
	checks(t, func(t *rapid.T) {
		doc := genDocument.Draw(t, "document")
		other := doc
		if doc.FS != nil {
			fs := *doc.FS
			for _, list := range []*[]string{&fs.Read, &fs.Write, &fs.AskRead, &fs.AskWrite, &fs.Hide, &fs.Protect, &fs.Unprotect} {
				*list = slices.Clone(*list)
				slices.Reverse(*list)
			}
			other.FS = &fs
		}
		if doc.CrossSend != nil {
			x := *doc.CrossSend
			x.Allowlist, x.Denylist = slices.Clone(x.Allowlist), slices.Clone(x.Denylist)
			slices.Reverse(x.Allowlist)
			slices.Reverse(x.Denylist)
			other.CrossSend = &x
		}
		p, q := compileDocument(t, doc), compileDocument(t, other)
		require.Equal(t, p.Hash(), q.Hash())
		for range 5 {
			r := genRequest.Draw(t, "request")
			require.Equal(t, ask(p, r).Effect, ask(q, r).Effect)
			require.Equal(t, ask(p, r).Code, ask(q, r).Code)
		}
	})
}

func compileDocument(t *rapid.T, doc Document) *Policy {
	src, err := FromDocument("p.yaml", doc)
	require.NoError(t, err)
	p, err := Compile(src, Options{})
	require.NoError(t, err)
	return p
}

// compile(fmt(x)) is compile(x).
func TestFormatChangesNoPolicy(t *testing.T) {
	checks(t, func(t *rapid.T) {
		text := encodeJSON(genDocument.Draw(t, "document"))
		formatted, err := Format("p.yaml", text)
		require.NoError(t, err)
		require.True(t, compile(t, string(text)).Hash() == compile(t, string(formatted)).Hash())
	})
}

// Explain decides as Check does, and its last word is the decision.
func TestExplainIsCheck(t *testing.T) {
	checks(t, func(t *rapid.T) {
		p := genPolicy(t, "policy")
		r := genRequest.Draw(t, "request")
		d, steps := inside{p}.Explain(kin, r)
		require.Equal(t, ask(p, r), d)
		if n := len(steps); d.Rule != "" {
			require.True(t, slices.ContainsFunc(steps, func(s policies.Step) bool { return s.Rule == d.Rule && s.Source == d.Source }) ||
				d.Layer == "always", "the deciding rule is among %d steps", n)
		}
	})
}

// What the path resolver gets is never more than Check allows.
func TestResolverNeverExceedsCheck(t *testing.T) {
	checks(t, func(t *rapid.T) {
		p := genPolicy(t, "policy")
		held, err := p.Resolver("/root")
		if err != nil {
			return
		}
		place := genPlace.Draw(t, "place")
		if placeKind(place) != aPlace {
			return
		}
		hide, protect, write := setOf(t, held.Config.Hide, true), setOf(t, held.Config.Protect, true), setOf(t, held.Config.WritePaths, false)
		folded := []byte(globs.Fold(place))
		if hide.covers(folded) != nil || setOf(t, held.Config.AskRead, true).covers(folded) != nil {
			return
		}
		if held.Config.ReadPaths != nil && setOf(t, held.Config.ReadPaths, false).covers([]byte(place)) == nil {
			return // not there, but for directories that lead to read paths
		}
		require.Equal(t, access.Allow, file(p, access.FSRead, place).Effect, "%+v", held.Config)
		set, _ := trusted.New(held.Config.Unprotect)
		if set.Covers(place) == nil && protect.covers(folded) == nil && setOf(t, held.Config.AskWrite, true).covers(folded) == nil && write.covers([]byte(place)) != nil {
			require.Equal(t, access.Allow, file(p, access.FSWrite, place).Effect, "%+v", held.Config)
		}
	})
}

func setOf(t require.TestingT, list []string, folded bool) *patternSet {
	for _, text := range list {
		_, err := parsePattern(text, folded)
		require.NoError(t, err)
	}
	return (&layer{src: &Source{}}).patterns("", append([]string{}, list...), folded)
}
