package mcpbench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
)

// Options say what takes part.
type Options struct {
	Tree string // an empty directory
	Bin  string // where bench and pinfold are, and may be also and Clients
	// Files is how many the searched directory has, and Calls how many short
	// calls make a round. Files is at least 10.
	Files, Calls int
}

// Bench is a set of servers over one tree. Close ends them.
type Bench struct {
	o       Options
	clients map[string]*client // by column, and by column and noSync
	kinds   []kind
	half    *figures.Half
	edited  bool // what editedFile says now
}

// Start makes the tree and starts the servers.
func Start(o Options) (*Bench, error) {
	if err := growTree(o.Tree, o.Files); err != nil {
		return nil, err
	}
	b := &Bench{o: o, clients: map[string]*client{}, half: &figures.Half{Name: Name, Base: bare,
		Title: "File skills over MCP, standard input and output"}}
	for _, k := range kinds() {
		if _, err := os.Stat(filepath.Join(o.Bin, k.needs)); err != nil {
			if k.why != "" {
				b.half.Notes = append(b.half.Notes, "left out: "+k.name+": "+k.why)
			}
			continue
		}
		c, err := connect(k.argv(o), o.Tree)
		if err != nil {
			b.Close()
			return nil, err
		}
		b.clients[k.name] = c
		b.kinds = append(b.kinds, k)
		b.half.Columns = append(b.half.Columns, k.name)
		if err := b.noteTools(k.name, c); err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}

// Close ends the servers. It may be called more than once.
func (b *Bench) Close() {
	for _, c := range b.clients {
		c.stop()
	}
	clear(b.clients)
}

// Half is the table, empty until its Run is called with Work's rows.
func (b *Bench) Half() *figures.Half { return b.half }

// mostTools is how many bytes of tools a model should have to read, without
// the schemas of results.
const mostTools = 8 << 10

// noteTools notes how much a server tells of its tools.
func (b *Bench) noteTools(name string, c *client) error {
	answer, err := c.ask("tools/list", struct{}{})
	if err != nil {
		return err
	}
	var list struct {
		Result struct{ Tools []map[string]json.RawMessage }
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return err
	}
	for _, t := range list.Result.Tools {
		delete(t, "outputSchema")
	}
	text, err := json.Marshal(list.Result.Tools)
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%s: tools/list is %d bytes for %d tools, without schemas of results", name, len(text), len(list.Result.Tools))
	if name == pinfold {
		state := figures.Pass
		if len(text) > mostTools {
			state = figures.Miss
		}
		note += fmt.Sprintf(" (at most %d): %s", mostTools, state)
	}
	b.half.Notes = append(b.half.Notes, note)
	return nil
}

func (b *Bench) kind(name string) kind {
	return b.kinds[slices.IndexFunc(b.kinds, func(k kind) bool { return k.name == name })]
}

// client is the server of a column for a row, started when it is first asked
// for where the row wants one of its own.
func (b *Bench) client(column string, r row) (*client, error) {
	k := b.kind(column)
	if !r.noSync || k.noSync == "" {
		return b.clients[column], nil
	}
	key := column + " " + k.noSync
	if c := b.clients[key]; c != nil {
		return c, nil
	}
	c, err := connect(append(k.argv(b.o), k.noSync), b.o.Tree)
	if err != nil {
		return nil, err
	}
	b.clients[key] = c
	return c, nil
}

// warm is how many calls go before those that are timed.
const warm = 2

// measure does the calls of one round, after some off the clock, and looks at
// each answer afterwards.
func (b *Bench) measure(r row, column string) (float64, error) {
	c, err := b.client(column, r)
	if err != nil {
		return 0, err
	}
	n := r.calls(b.o)
	lines := make([][]byte, warm+n)
	for i := range lines {
		tool, args := b.kind(column).call(r.name, b.o)
		line, err := c.line("tools/call", map[string]any{"name": tool, "arguments": args})
		if err != nil {
			return 0, err
		}
		lines[i] = b.fill(line)
	}
	answers := make([][]byte, len(lines))
	var began time.Time
	for i, line := range lines {
		if i == warm {
			began = time.Now()
		}
		answer, err := c.send(line)
		if err != nil {
			return 0, err
		}
		answers[i] = answer
	}
	spent := time.Since(began)
	for _, a := range answers {
		said, err := text(a)
		if err != nil {
			return 0, err
		}
		if !strings.Contains(said, r.says) {
			return 0, fmt.Errorf("it answered %.300q", said)
		}
	}
	return float64(spent.Nanoseconds()) / float64(n), nil
}

// fill fills in what a line is to replace by what, if it does, so that each
// edit undoes the one before it.
func (b *Bench) fill(line []byte) []byte {
	text := string(line)
	if !strings.Contains(text, `"@old"`) {
		return line
	}
	from, to := oldWord, newWord
	if b.edited {
		from, to = to, from
	}
	b.edited = !b.edited
	return []byte(strings.NewReplacer("@old", from, "@new", to).Replace(text))
}

// start is the time from nothing to an initialized server, in nanoseconds.
func (b *Bench) start(column string) (float64, error) {
	began := time.Now()
	c, err := connect(b.kind(column).argv(b.o), b.o.Tree)
	if err != nil {
		return 0, err
	}
	spent := time.Since(began)
	c.stop()
	return float64(spent.Nanoseconds()), nil
}
