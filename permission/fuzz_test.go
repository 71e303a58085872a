package permission

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
)

// Whatever is decoded can be encoded, formatted and compiled, and stays what it
// is; whatever is refused is refused with a position.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(example))
	for _, name := range append(Builtins(), "agents") {
		data, err := BuiltinText(name)
		require.NoError(f, err)
		f.Add(data)
	}
	for _, text := range hostile() {
		if len(text) < 1<<12 {
			f.Add([]byte(text))
		}
	}
	f.Add(encodeJSON(Document{Version: 1, Targets: map[access.Action]Targets{access.MsgSend: {IDs: []string{}}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := Decode("p.yaml", data)
		if err != nil {
			var de *DocumentError
			require.ErrorAs(t, err, &de)
			for _, p := range de.Problems {
				require.Positive(t, p.Line, p.String())
			}
			return
		}
		again, err := Decode("p.yaml", Encode(src.Document))
		require.NoError(t, err, "%s", Encode(src.Document))
		require.Equal(t, src.Document, again.Document)
		once, err := Format("p.yaml", data)
		require.NoError(t, err)
		twice, err := Format("p.yaml", once)
		require.NoError(t, err, "%s", once)
		require.Equal(t, string(once), string(twice))
		if p, err := Compile(src, Options{}); err == nil {
			p.Check(t.Context(), access.Request{Action: access.FSWrite, Resource: "a/b"})
			_, _ = p.Resolver("/")
		}
	})
}

func FuzzParseAgent(f *testing.F) {
	f.Add([]byte("---\nname: x\ntools: Read, Bash(git add:*)\nwrite_paths: [a]\ncolor: red\n---\nBody"))
	f.Add([]byte("---\nname: coder\ndescription: a: b\ntools:\n  - Read\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ParseAgent("a.md", data)
		if err != nil {
			var de *DocumentError
			require.ErrorAs(t, err, &de)
			return
		}
		if p, _, err := a.Policy(Options{}); err == nil {
			inside{p}.BashCommands()
		}
	})
}
