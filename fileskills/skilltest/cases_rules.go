package skilltest

import "github.com/pinfold-dev/pinfold/fileskills"

// rules are about what may be read and written, through every skill.
var rules = []testCase{
	{
		name:  "reading stops at the root (W1, A01, A02, A07)",
		files: map[string]string{"sub/x": "x\n"},
		calls: []want{
			{skill: "read_file", in: args{"path": "sub/x"}, text: []string{"x"}},
			{skill: "read_file", in: args{"path": "../outside/secret"}, code: fileskills.CodePathOutsideRoot, text: []string{"Path '../outside/secret' is outside the allowed sandbox\n"}},
			{skill: "read_file", in: args{"path": "sub/../../outside/secret"}, code: fileskills.CodePathOutsideRoot},
			{skill: "read_file", in: args{"path": "/etc/passwd"}, code: fileskills.CodePathOutsideRoot, text: []string{"Path '/etc/passwd' is outside the allowed sandbox\n"}},
			{skill: "list_directory", in: args{"path": ".."}, code: fileskills.CodePathOutsideRoot},
			{skill: "file_info", in: args{"path": "../outside"}, code: fileskills.CodePathOutsideRoot},
			{skill: "glob", in: args{"pattern": "*", "path": ".."}, code: fileskills.CodePathOutsideRoot},
			{skill: "grep", in: args{"pattern": "x", "path": "../outside"}, code: fileskills.CodePathOutsideRoot},
		},
	},
	{
		name: "no write path: nothing is written (W4, W5)",
		calls: []want{
			{skill: "write_file", in: args{"path": "ok.txt", "content": "x"}, code: fileskills.CodeWriteNotAllowed, text: []string{"Path 'ok.txt' is outside the allowed sandbox for writing; nothing is writable\n"}},
			{skill: "edit_file", in: args{"path": "ok.txt", "old_string": "ok", "new_string": "x"}, code: fileskills.CodeWriteNotAllowed},
			{skill: "edit_file_batch", in: args{"path": "ok.txt", "edits": []args{{"old_string": "ok", "new_string": "x"}}}, code: fileskills.CodeWriteNotAllowed},
			{skill: "append_file", in: args{"path": "ok.txt", "content": "x"}, code: fileskills.CodeWriteNotAllowed},
			{skill: "regex_replace", in: args{"path": "ok.txt", "pattern": "ok", "replacement": "x"}, code: fileskills.CodeWriteNotAllowed},
			{skill: "mkdir", in: args{"path": "d"}, code: fileskills.CodeWriteNotAllowed},
			{skill: "copy_file", in: args{"source": "ok.txt", "destination": "c"}, code: fileskills.CodeWriteNotAllowed},
			{skill: "rename", in: args{"source": "ok.txt", "destination": "m"}, code: fileskills.CodeWriteNotAllowed},
			{skill: "delete_file", in: args{"path": "ok.txt"}, code: fileskills.CodeWriteNotAllowed},
		},
		after: map[string]string{"ok.txt": "ok\n", "c": absent, "m": absent},
	},
	{
		name:  "writing beneath the write path, and nowhere else (W2, W6, W13)",
		write: []string{"out"},
		files: map[string]string{"out/f": "ok\n", "out2/f": "ok\n"},
		calls: []want{
			{skill: "write_file", in: args{"path": "out/n", "content": "new\n"}},
			{skill: "edit_file", in: args{"path": "out/f", "old_string": "ok", "new_string": "yes"}},
			{skill: "append_file", in: args{"path": "out/f", "content": "more"}},
			{skill: "regex_replace", in: args{"path": "out/n", "pattern": "(n)ew", "replacement": `\1EW`}},
			{skill: "mkdir", in: args{"path": "out/d/e"}},
			{skill: "copy_file", in: args{"source": "out/n", "destination": "out/d/e/c"}},
			{skill: "rename", in: args{"source": "out/d/e/c", "destination": "out/m"}},
			{skill: "write_file", in: args{"path": "out2/f", "content": "x"}, code: fileskills.CodeWriteNotAllowed, text: []string{"; writable: out\n"}},
			{skill: "write_file", in: args{"path": "out/../ok.txt", "content": "x"}, code: fileskills.CodeWriteNotAllowed},
		},
		after: map[string]string{"out/n": "nEW\n", "out/f": "yes\nmore\n", "out/m": "nEW\n", "out2/f": "ok\n", "ok.txt": "ok\n", "out/d/e/c": absent},
	},
	{
		name:  "a copy reads its source, a move deletes it (W11, W12)",
		write: []string{"out"},
		calls: []want{
			{skill: "copy_file", in: args{"source": "ok.txt", "destination": "out/c"}},
			{skill: "rename", in: args{"source": "ok.txt", "destination": "out/m"}, code: fileskills.CodeWriteNotAllowed, text: []string{"Path 'ok.txt' is outside"}},
			{skill: "rename", in: args{"source": "out/c", "destination": "m"}, code: fileskills.CodeWriteNotAllowed, text: []string{"Path 'm' is outside"}},
			{skill: "copy_file", in: args{"source": "../secret", "destination": "out/s"}, code: fileskills.CodePathOutsideRoot},
		},
		after: map[string]string{"ok.txt": "ok\n", "out/c": "ok\n", "out/m": absent, "out/s": absent, "m": absent},
	},
	{
		name:  "a write path itself stays",
		write: []string{"out"},
		calls: []want{
			{skill: "rename", in: args{"source": "out", "destination": "out/d"}, code: fileskills.CodeWriteNotAllowed},
			{skill: "delete_file", in: args{"path": "out"}, code: fileskills.CodeWriteNotAllowed},
		},
	},
}
