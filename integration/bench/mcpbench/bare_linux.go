package mcpbench

import (
	"bufio"
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bare serves the raw calls over standard input and output until that ends:
// what the SDK and the disk cost by themselves. It checks nothing.
func Bare(ctx context.Context) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	tool(s, "read", func(a args) (string, error) {
		b, err := os.ReadFile(a.Path)
		return string(b), err
	})
	tool(s, "head", head)
	for name, how := range edits {
		tool(s, name, how.edit)
	}
	tool(s, "glob", glob)
	tool(s, "grep", grep)
	return s.Run(ctx, &mcp.StdioTransport{})
}

// args are those of all of its tools.
type args struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

func tool(s *mcp.Server, name string, do func(args) (string, error)) {
	mcp.AddTool(s, &mcp.Tool{Name: name}, func(_ context.Context, _ *mcp.CallToolRequest, a args) (*mcp.CallToolResult, any, error) {
		text, err := do(a)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, err
	})
}

// head gives the first lines of a file.
func head(a args) (string, error) {
	f, err := os.Open(a.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var b strings.Builder
	in := bufio.NewScanner(f)
	for n := 0; n < headLines && in.Scan(); n++ {
		b.Write(in.Bytes())
		b.WriteByte('\n')
	}
	return b.String(), in.Err()
}

// glob names the files whose name has the ending Old.
func glob(a args) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(a.Path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, a.Old) && !d.IsDir() {
			b.WriteString(p)
			b.WriteByte('\n')
		}
		return err
	})
	return b.String(), err
}

// grep names the files that hold the text Old.
func grep(a args) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(a.Path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if bytes.Contains(data, []byte(a.Old)) {
			b.WriteString(p)
			b.WriteByte('\n')
		}
		return err
	})
	return b.String(), err
}
