package integration

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/fileskills/skilltest"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// TestContract holds the skills to one contract as a Go package and over both
// transports of the shipped program: W5, W6, W11, W12, W13, and of W17's list
// reading in and outside cwd, writing at, beside and without a write path.
func TestContract(t *testing.T) {
	t.Run("skills", func(t *testing.T) {
		skilltest.Run(t, func(t *testing.T, w skilltest.World) skilltest.Surface {
			root := t.TempDir()
			require.NoError(t, w.Put(root))
			r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: w.WritePaths})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, r.Close()) })
			set, err := fileskills.New(fileskills.Config{Resolver: r, Enable: w.Enable})
			require.NoError(t, err)
			return skilltest.OnSet(set, skilltest.Beneath(root))
		})
	})
	t.Run("mcp-stdio", func(t *testing.T) { skilltest.Run(t, overMCP(false)) })
	t.Run("mcp-http", func(t *testing.T) { skilltest.Run(t, overMCP(true)) })
}

// TestWritePathOutside is the rest of W17: a write path outside cwd is
// rejected when the server starts, in the words of W10, and one inside is not.
func TestWritePathOutside(t *testing.T) {
	root := t.TempDir()
	out, err := exec.Command(pinfold, "mcp", "-C", root, "-w", "../other").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "allowed_write_path '../other' is outside sandbox root '"+root+"'")
	out, err = exec.Command(pinfold, "mcp", "-C", root, "-w", "other").CombinedOutput() // ends with its input
	require.NoError(t, err, "%s", out)
}

// overMCP starts `pinfold mcp` over a world.
func overMCP(http bool) skilltest.Starter {
	return func(t *testing.T, w skilltest.World) skilltest.Surface {
		root := t.TempDir()
		require.NoError(t, w.Put(root))
		args := []string{"mcp", "-C", root}
		for _, p := range w.WritePaths {
			args = append(args, "-w", p)
		}
		for _, name := range w.Enable {
			args = append(args, "--enable", name)
		}
		session, err := connect(t, exec.Command(pinfold, args...), http)
		require.NoError(t, err)
		return mcpContract{session, root, t}
	}
}

// mcpContract is a session as a surface of the contract.
type mcpContract struct {
	session *mcp.ClientSession
	root    string
	t       *testing.T
}

func (m mcpContract) File(place string) (string, bool) { return skilltest.Beneath(m.root)(place) }

func (m mcpContract) Skills() []string {
	list, err := m.session.ListTools(m.t.Context(), nil)
	require.NoError(m.t, err)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func (m mcpContract) Call(ctx context.Context, name string, input json.RawMessage) (*fileskills.Result, error) {
	res, err := m.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: input})
	if err != nil {
		return nil, err
	}
	text, err := answer(res)
	if err != nil {
		return nil, err
	}
	out := &fileskills.Result{Text: text}
	meta, err := json.Marshal(res.StructuredContent)
	return out, errors.Join(err, json.Unmarshal(meta, &out.Meta))
}
