package permission

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/access"
)

// diff(x, y) is empty exactly when no request differs: every change has a
// request that shows it, and no request of the sampled universe differs where
// none is told.
func TestDiffIsExact(t *testing.T) {
	checks(t, func(t *rapid.T) {
		a := genPolicy(t, "policy")
		b := genPolicy(t, "policy")
		changes := diff(a, b)
		for _, c := range changes {
			if c.request.Action == "" {
				continue
			}
			before := Enforcer{a, c.relatives}.Check(context.Background(), c.request).Effect
			after := Enforcer{b, c.relatives}.Check(context.Background(), c.request).Effect
			require.NotEqual(t, before, after, c)
			require.Equal(t, opinionOf(after) < opinionOf(before), c.widens, c)
		}
		if len(changes) > 0 {
			return
		}
		for range 20 {
			r := genRequest.Draw(t, "request")
			require.Equal(t, ask(a, r).Effect, ask(b, r).Effect)
		}
	})
}

// The same, of policies that differ in one rule only: most of what is drawn
// above differs in a hundred ways.
func TestDiffFindsOneRule(t *testing.T) {
	checks(t, func(t *rapid.T) {
		doc := genDocument.Draw(t, "document")
		other := doc
		fs := FS{}
		if doc.FS != nil {
			fs = *doc.FS
		}
		list := rapid.SampledFrom([]*[]string{&fs.Read, &fs.Write, &fs.AskRead, &fs.AskWrite, &fs.Hide, &fs.Protect}).Draw(t, "list")
		*list = append(append([]string{}, *list...), genPattern.Draw(t, "pattern"))
		other.FS = &fs
		a, b := compileDocument(t, doc), compileDocument(t, other)
		if len(diff(a, b)) > 0 {
			return
		}
		for range 50 {
			r := access.Request{Action: rapid.SampledFrom([]access.Action{access.FSRead, access.FSWrite}).Draw(t, "action"), Resource: genPlace.Draw(t, "place")}
			require.Equal(t, ask(a, r).Effect, ask(b, r).Effect)
		}
	})
}

func TestDiffOfOneself(t *testing.T) {
	checks(t, func(t *rapid.T) {
		doc := genDocument.Draw(t, "document")
		require.Empty(t, diff(compileDocument(t, doc), compileDocument(t, doc)))
	})
}

// What a change means stands there in words.
func TestDiffInWords(t *testing.T) {
	words := func(before, after string) (list []string) {
		for _, c := range diff(compile(t, "version: 1\n"+before), compile(t, "version: 1\n"+after)) {
			list = append(list, c.String())
		}
		return list
	}
	require.Empty(t, words("extends: sandboxed", "extends: sandboxed\nfs: {}"))
	require.Empty(t, words("extends: sandboxed\nfs: {write: [docs, docs/a]}", "extends: sandboxed\nfs: {write: [docs/**]}"))
	require.Equal(t, []string{"widens: writing 'src': allowed, was refused [p:fs.write[1], p.yaml:3:20]"},
		words("extends: sandboxed\nfs: {write: [docs]}", "extends: sandboxed\nfs: {write: [docs, src]}"))
	require.Equal(t, []string{"narrows: reading '**/.env' (such as .env): refused, was allowed [p:fs.hide[0], p.yaml:3:13]"},
		words("extends: sandboxed", "extends: sandboxed\nfs: {hide: ['**/.env']}"))
	require.Equal(t, []string{
		"widens: the network: on, was off [p:network, p.yaml:2:1]",
	}, words("fs: {}", "network: true"))
	require.Equal(t, []string{"widens: tool 'Bash': allowed, was refused [p:tools.Bash, p.yaml:2:9]"}, words("fs: {}", "tools: {Bash: {}}"))
	require.Equal(t, []string{"widens: role 'verify': WRITE, was VERIFICATION"}, words("fs: {}", "roles: {verify: WRITE}"))
	require.Equal(t, []string{"narrows: role 'verify': READ_ONLY, was VERIFICATION"}, words("fs: {}", "roles: {verify: READ_ONLY}"))
	require.Equal(t, []string{
		"narrows: msg.send to a child: refused, was allowed [p:targets.msg.send, p.yaml:3:11]",
		"narrows: msg.send to a sibling: refused, was allowed [p:targets.msg.send, p.yaml:3:11]",
		"narrows: msg.send to another agent: refused, was allowed [p:targets.msg.send, p.yaml:3:11]",
		"narrows: msg.send to itself: refused, was allowed [p:targets.msg.send, p.yaml:3:11]",
	}, words("extends: trusted", "extends: trusted\ntargets: {msg.send: parent}"))
	require.True(t, widens(diff(preset(t, "sandboxed"), preset(t, "yolo"))))
	require.False(t, widens(diff(preset(t, "yolo"), preset(t, "sandboxed"))))
}
