// Package skills has the commands that offer file skills: skill, mcp, and for Claude
// Code its hook and permission prompt.
package skills
