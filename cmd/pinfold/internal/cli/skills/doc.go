// Package skills has the commands that offer file skills: skills and mcp, and the hook
// and the permission prompt for Claude Code.
package skills
