package launcher

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestModes(t *testing.T) {
	for _, c := range []struct {
		name, written string
		touched       bool
		asked         bool
		has, hasNot   string
	}{
		{"plain", "text\r\n\ttab \b\a", false, false, "", ""},
		{"plain in UTF-8", "✓ größer 日本 🙂 \u00a0", false, false, "", ""},
		{"colour", "\x1b[31mred\x1b[0m", true, false, "\x1b[m", "\x1b[?1049l"},
		{"alternate screen", "\x1b[?1049h", true, false, "\x1b[?1049l", ""},
		{"alternate screen, left", "\x1b[?1049hx\x1b[?1049l", true, false, "\x1b[?1047l", "\x1b[?1049l"},
		{"several modes at once", "\x1b[?25;1049;1003h", true, true, "\x1b[?1049l", ""},
		{"as C1 in UTF-8", "\u009b?1049h", true, false, "\x1b[?1049l", ""},
		{"as C1 in 8 bits", "\x9b?1049h", true, true, "\x1b[?1047l", ""},
		{"region", "\x1b[3;9r", true, false, "\x1b[r", ""},
		{"cursor's shape", "\x1b[5 q", true, true, "\x1b[0 q", ""},
		{"kitty's keys", "\x1b[>1u", true, true, "\x1b[<99u", ""},
		{"xterm's keys", "\x1b[>4;2m", true, false, "\x1b[>4;0m", ""},
		{"mouse", "\x1b[?1000h", true, true, "\x1b[?1000l", ""},
		{"where is the cursor", "\x1b[6n", true, true, "", ""},
		{"what are you", "\x1b[c", true, true, "", ""},
		{"background's colour", "\x1b]11;?\a", true, true, "\x1b]111\x1b\\", ""},
		{"palette", "\x1b]4;1;rgb:00/00/00\x1b\\", true, false, "\x1b]104\x1b\\", ""},
		{"title", "\x1b]0;4;name\a", true, false, "", "\x1b]104"},
		{"terminfo", "\x1bP+q544e\x1b\\", true, true, "", ""},
		{"enquiry", "\x05", true, true, "", ""},
		{"other letters", "\x0e", true, false, "\x0f", ""},
		{"cancelled", "\x1b[?10\x1849h", true, false, "", "\x1b[?1049l"},
	} {
		// Cut anywhere it means the same.
		for cut := range len(c.written) + 1 {
			var m modes
			m.write([]byte(c.written[:cut]))
			m.write([]byte(c.written[cut:]))
			resets := m.resets()
			assert.Equal(t, c.touched, resets != "", "%s, cut at %d", c.name, cut)
			assert.Equal(t, c.asked, m.asked, "%s, cut at %d", c.name, cut)
			assert.Contains(t, resets, c.has, c.name)
			if c.hasNot != "" {
				assert.NotContains(t, resets, c.hasNot, c.name)
			}
		}
	}
	var m modes
	m.write([]byte("\x1b[" + strings.Repeat("1;", 1<<20)))
	assert.LessOrEqual(t, len(m.params), maxParams)
}

// What is put back touches nothing but what is to be put back: it neither clears
// nor asks, and the parser finds it to be what it is taken for.
func TestResetsAreQuiet(t *testing.T) {
	all := modes{touched: true}
	for i := range all.seen {
		all.seen[i] = true
	}
	assert.NotContains(t, all.resets(), "J", "nothing is erased")
	assert.NotContains(t, all.resets(), "\x1bc")
	var m modes
	m.write([]byte(all.resets()))
	assert.Equal(t, inText, m.state, "it ends where text goes on")
	assert.False(t, m.seen[resetAlternate])
}

func FuzzModes(f *testing.F) {
	f.Add([]byte("\x1b[?1049h\x1b]11;?\a\x1bPx\x1b\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var whole, parts modes
		whole.write(data)
		for _, c := range data {
			parts.write([]byte{c})
		}
		assert.Equal(t, whole.resets(), parts.resets())
		assert.Equal(t, whole.asked, parts.asked)
		whole.write([]byte(whole.resets()))
		assert.Equal(t, inText, whole.state, "whatever came before")
	})
}
