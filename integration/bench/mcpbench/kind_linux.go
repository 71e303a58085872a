package mcpbench

import "path/filepath"

// Name is the half's name, as goals and flags spell it.
const Name = "mcp"

// Clients is the link, beside the programs, to what .ci/node made.
const Clients = "clients"

// Official is the column of the official server, in TypeScript.
const Official = "official"

// Other columns.
const (
	bare    = "bare"
	pinfold = "pinfold"
	also    = "also"
)

// kind is a server, with words of its own for each row that it can do.
type kind struct {
	name  string
	needs string // beside the programs; without it the kind is left out
	why   string // what is said then, "" for nothing
	argv  func(o Options) []string
	// noSync is the flag for rows without fsync, which get a server of their
	// own; "" where there is no such flag.
	noSync string
	call   func(row string, o Options) (tool string, args map[string]any)
}

// kinds in the order of the table.
func kinds() []kind {
	return []kind{
		{name: bare, needs: "bench", argv: func(o Options) []string { return []string{filepath.Join(o.Bin, "bench"), "bare"} }, call: bareCall},
		{name: pinfold, needs: pinfold, argv: mcpOf(pinfold), noSync: "--no-sync", call: pinfoldCall},
		{name: also, needs: also, argv: mcpOf(also), noSync: "--no-sync", call: pinfoldCall},
		{name: Official, needs: Clients, why: "no Node; .ci/node installs it", argv: func(o Options) []string {
			clients := filepath.Join(o.Bin, Clients)
			return []string{filepath.Join(clients, "bin/node"), filepath.Join(clients, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"), o.Tree}
		}, call: officialCall},
	}
}

func mcpOf(program string) func(Options) []string {
	return func(o Options) []string {
		return []string{filepath.Join(o.Bin, program), "mcp", "-C", o.Tree, "-w", "."}
	}
}

func bareCall(row string, _ Options) (string, map[string]any) {
	switch row {
	case "read_1k":
		return "read", map[string]any{"path": smallFile}
	case "read_10m":
		return "head", map[string]any{"path": bigFile}
	case editNoSync, editFsync, editDurable:
		return row, map[string]any{"path": editedFile, "old": "@old", "new": "@new"}
	case "glob":
		return "glob", map[string]any{"path": forest, "old": rareEnding}
	case "grep":
		return "grep", map[string]any{"path": forest, "old": rareText}
	}
	return "", nil
}

func pinfoldCall(row string, _ Options) (string, map[string]any) {
	switch row {
	case "read_1k":
		return "read_file", map[string]any{"path": smallFile}
	case "read_10m":
		return "read_file", map[string]any{"path": bigFile}
	case editNoSync, editFsync, editDurable:
		return "edit_file", map[string]any{"path": editedFile, "old_string": "@old", "new_string": "@new"}
	case "glob":
		return "glob", map[string]any{"path": forest, "pattern": "**/*" + rareEnding}
	case "grep":
		return "grep", map[string]any{"path": forest, "pattern": rareText, "output": "files"}
	}
	return "", nil
}

// officialCall: it has no search in files, and its edit has no fsync.
func officialCall(row string, o Options) (string, map[string]any) {
	at := func(name string) string { return filepath.Join(o.Tree, name) }
	switch row {
	case "read_1k":
		return "read_text_file", map[string]any{"path": at(smallFile)}
	case "read_10m":
		return "read_text_file", map[string]any{"path": at(bigFile), "head": headLines}
	case editNoSync:
		return "edit_file", map[string]any{"path": at(editedFile), "edits": []any{map[string]any{"oldText": "@old", "newText": "@new"}}}
	case "glob":
		return "search_files", map[string]any{"path": at(forest), "pattern": "**/*" + rareEnding}
	}
	return "", nil
}
