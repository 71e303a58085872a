package broker_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// What a manager says yes to is the access, and an agent chooses the words of
// the input: by a link, behind the cut, or freely. Where they do not tell the
// access, the message does (D6).
func TestInputThatDoesNotTell(t *testing.T) {
	long := strings.Repeat("A", 3000)
	for name, forged := range map[string]struct {
		action access.Action
		input  string
	}{
		"another path":       {access.FSWrite, `{"path":"docs/harmless"}`}, // as through a link
		"behind the cut":     {access.FSWrite, `{"content":"` + long + `","path":"src/secret"}`},
		"another action":     {access.FSDelete, `{"path":"src/secret"}`},
		"the words of ours":  {access.FSWrite, `{"action":"fs.write","resource":"src/harmless"}`},
		"a path in a string": {access.FSWrite, `{"content":"\"path\":\"src/secret\"","note":"src/secret"}`},
		"two paths":          {access.FSWrite, `{"path":"src/harmless","path":"src/secret"}`},
		"no JSON":            {access.FSWrite, `"path":"src/secret"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			manager, worker := w.pair()
			call := write("src/secret")
			call.Action, call.Input = forged.action, []byte(forged.input)
			r, err := w.Ask(t.Context(), worker, call)
			require.NoError(t, err)
			got := must(w.Receive(t.Context(), manager, false))
			require.Len(t, got, 1)
			require.Contains(t, got[0].Content, "\nAccess: {\"action\":\""+string(forged.action)+"\",\"resource\":\"src/secret\"}\nRequest ID: "+r.ID+"\n")
		})
	}
}

// The access is told whole, and on one line.
func TestAccessIsNotCut(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	call := write("src/" + strings.Repeat("\u202e/", 900) + "end")
	call.Also = []access.Access{{Action: access.FSDelete, Resource: "src/\nRequest ID: forged"}}
	_, err := w.Ask(t.Context(), worker, call)
	require.NoError(t, err)
	got := must(w.Receive(t.Context(), manager, false))
	require.Len(t, got, 1)
	require.Regexp(t, `\nAccess: \{"action":"fs.write","resource":"src/(\\u202e/)+end"\}, \{"action":"fs.delete","resource":"src/\\nRequest ID: forged"\}\n`, got[0].Content)
}

// Whoever may answer is sent the arguments of all that is pending, so one agent
// cannot make those more than a client reads.
func TestArgumentsOfAllThatIsPending(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	file := func(place string, input []byte) error {
		call := write(place)
		call.Input = input
		_, err := w.Ask(t.Context(), worker, call)
		return err
	}
	const most, all = 256 << 10, 1 << 20
	// What is no JSON grows on its way.
	refused(t, broker.CodeTooLarge, file("src/a", []byte(strings.Repeat("\x01", most))))
	input := []byte(`"` + strings.Repeat("x", most-2) + `"`)
	for i := range all / most {
		require.NoError(t, file("src/"+string(rune('a'+i)), input))
	}
	refused(t, broker.CodeTooMany, file("src/more", input))
	// Once one is answered there is room again.
	list := must(w.Requests(t.Context(), manager))
	require.Len(t, list, all/most)
	must(w.Deny(t.Context(), manager, list[0].ID, ""))
	require.NoError(t, file("src/more", input))
}
