package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// Files are resources under file:///PATH, where PATH starts at the root of the
// Set and not at the host's: the host's names are nobody's business. The same
// gate and FS decide about them as about read_file.
const resourceScheme = "file"

func (s *Server) addResources() {
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		Name:        "file",
		Description: "A file, by its path beneath the root directory",
		URITemplate: resourceScheme + ":///{+path}",
	}, s.readResource)
}

// ownAnswer says of a result that it is for the client that asked: another one may
// be refused what this one is shown, and what is shown changes without notice.
func ownAnswer(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
	c.CacheScope = "private"
}

// listResources names the files that lie directly in the root, so that a
// person has something to pick from; all others have a URI by the template.
// Where they may not be listed there are none. A page ends with a cursor, behind
// which the next one begins, whatever comes or goes meanwhile.
func (s *Server) listResources(ctx context.Context, req *mcp.ListResourcesRequest) (mcp.Result, error) {
	res := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}}
	ownAnswer(ctx, req, &res.Cacheable)
	after := ""
	if req.Params != nil && req.Params.Cursor != "" {
		name, err := base64.RawURLEncoding.DecodeString(req.Params.Cursor)
		if err != nil || len(name) == 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor is none that was given: ask without one for the first page"}
		}
		after = string(name)
	}
	dir, err := s.set.OpenDir(ctx, ".")
	if err != nil {
		return res, nil
	}
	defer func() { _ = dir.Close() }() // it was read only
	entries, err := dir.ReadDir()
	if err != nil {
		return res, nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() && utf8.ValidString(e.Name()) && e.Name() > after {
			res.Resources = append(res.Resources, &mcp.Resource{Name: e.Name(), URI: uriOf(e.Name())})
		}
	}
	slices.SortFunc(res.Resources, func(a, b *mcp.Resource) int { return strings.Compare(a.Name, b.Name) })
	if len(res.Resources) > maxListed {
		res.Resources = res.Resources[:maxListed]
		res.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(res.Resources[maxListed-1].Name))
	}
	return res, nil
}

func (s *Server) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	ctx, stop := untilClosing(ctx)
	defer stop()
	unsafePath, err := pathOf(req.Params.URI)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	data, err := s.readWhole(ctx, unsafePath)
	var e *fileskills.Error
	switch {
	case errors.As(err, &e) && e.Code == fileskills.CodeNotFound:
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	case err != nil:
		wire := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		wire.Data, _ = json.Marshal(e) // plain data
		return nil, wire
	}
	contents := &mcp.ResourceContents{URI: req.Params.URI, MIMEType: "text/plain"}
	if utf8.Valid(data) {
		contents.Text = string(data)
	} else {
		contents.MIMEType, contents.Blob = http.DetectContentType(data), data
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
}

// readWhole reads a file of at most maxResource bytes.
func (s *Server) readWhole(ctx context.Context, unsafePath string) ([]byte, error) {
	f, err := s.set.Open(ctx, unsafePath)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read only
	data, err := io.ReadAll(io.LimitReader(f, maxResource+1))
	switch {
	case err != nil:
		return nil, &fileskills.Error{Code: fileskills.CodeIOError, Path: unsafePath, Message: "reading failed"}
	case len(data) > maxResource:
		return nil, &fileskills.Error{
			Code: fileskills.CodeTooLarge, Path: unsafePath,
			Message: fmt.Sprintf("%s is larger than %d bytes", unsafePath, maxResource),
			Hint:    "read_file reads it in pages.",
		}
	}
	return data, ctx.Err()
}

// uriOf is the URI of a path beneath the root.
func uriOf(path string) string {
	return (&url.URL{Scheme: resourceScheme, Path: "/" + path}).String()
}

// pathOf is the path in a URI, unsafe as any other that a client sends.
func pathOf(uri string) (unsafePath string, err error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Scheme != resourceScheme || u.Opaque != "":
		return "", errors.New("the URI of a file is file:///PATH, with PATH beneath the root directory")
	case u.Host != "":
		return "", fmt.Errorf("%q is a file of another machine", uri)
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("a file has neither query nor fragment: escape ? as %3F and # as %23")
	}
	return strings.TrimPrefix(u.Path, "/"), nil
}
