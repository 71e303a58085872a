package mcpserver

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// partOf is content that is not text. What is neither image nor sound is an
// embedded resource without a name of its own.
func partOf(p fileskills.Part) mcp.Content {
	switch kind, _, _ := strings.Cut(p.MIMEType, "/"); kind {
	case "image":
		return &mcp.ImageContent{MIMEType: p.MIMEType, Data: p.Data}
	case "audio":
		return &mcp.AudioContent{MIMEType: p.MIMEType, Data: p.Data}
	}
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
		URI: "about:blank", MIMEType: p.MIMEType, Blob: p.Data,
	}}
}
