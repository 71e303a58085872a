package skilltest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
)

var writing = []testCase{
	{
		name:  "write_file",
		write: []string{"out"},
		files: map[string]string{"out/f": "old\n"},
		calls: []want{
			{skill: "write_file", in: args{"path": "out/a/b/n", "content": "new\n"}, meta: func(t *testing.T, m fileskills.Meta) { require.True(t, m.Created) }},
			{skill: "write_file", in: args{"path": "out/f", "content": "x", "overwrite": false}, code: fileskills.CodeAlreadyExists},
			{skill: "write_file", in: args{"path": "out/f", "content": "x", "dry_run": true}, text: []string{"Nothing was written"}},
			{skill: "write_file", in: args{"path": "out/f", "content": "x", "expected_hash": "00"}, code: fileskills.CodeStaleFile, text: []string{"nothing was written"}},
			{skill: "write_file", in: args{"path": "out", "content": "x"}, code: fileskills.CodeIsDirectory},
			{skill: "write_file", in: args{"path": "out/f/x", "content": "x"}, code: fileskills.CodeNotDirectory},
		},
		after: map[string]string{"out/a/b/n": "new\n", "out/f": "old\n"},
	},
	{
		name:  "append_file",
		write: []string{"out"},
		files: map[string]string{"out/f": "one", "out/crlf": "one\r\n"},
		calls: []want{
			{skill: "append_file", in: args{"path": "out/f", "content": "two", "newline": false}},
			{skill: "append_file", in: args{"path": "out/n", "content": "first\n"}},
		},
		after: map[string]string{"out/f": "onetwo", "out/n": "first\n"},
	},
	{
		name:  "onto itself, and into itself: nothing is lost",
		write: []string{"out"},
		files: map[string]string{"out/f": "keep\n", "out/d/x": "x\n", "out/e/y": "y\n"},
		calls: []want{
			{skill: "copy_file", in: args{"source": "out/f", "destination": "out/f", "overwrite": true}, code: fileskills.CodeInvalidArgument},
			{skill: "rename", in: args{"source": "out/f", "destination": "out/f", "overwrite": true}, code: fileskills.CodeInvalidArgument},
			{skill: "rename", in: args{"source": "out/d", "destination": "out/d/in"}, code: fileskills.CodeInvalidArgument},
			{skill: "rename", in: args{"source": "out/d", "destination": "out/e", "overwrite": true}, code: fileskills.CodeAlreadyExists},
			{skill: "copy_file", in: args{"source": "ok.txt", "destination": "out/f"}, code: fileskills.CodeAlreadyExists},
			{skill: "rename", in: args{"source": "out/f", "destination": "out/d/x"}, code: fileskills.CodeAlreadyExists},
		},
		after: map[string]string{"out/f": "keep\n", "out/d/x": "x\n", "out/e/y": "y\n"},
	},
	{
		name:  "rename and delete_file",
		write: []string{"out"},
		files: map[string]string{"out/f": "f\n", "out/g": "g\n", "out/d/x": "x\n", "out/d/y": "y\n"},
		calls: []want{
			{skill: "rename", in: args{"source": "out/f", "destination": "out/g", "overwrite": true}},
			{skill: "rename", in: args{"source": "out/d", "destination": "out/e"}},
			{skill: "rename", in: args{"source": "out/none", "destination": "out/n/x"}, code: fileskills.CodeNotFound},
			{skill: "rename", in: args{"source": "out/e", "destination": "out/e/n/x"}, code: fileskills.CodeInvalidArgument},
			{skill: "rename", in: args{"source": "out/e/y", "destination": "out/m/n/y"}},
			{skill: "delete_file", in: args{"path": "out/g"}},
			{skill: "delete_file", in: args{"path": "out/g"}, code: fileskills.CodeNotFound},
		},
		after: map[string]string{"out/f": absent, "out/g": absent, "out/e/x": "x\n", "out/d/x": absent, "out/m/n/y": "y\n", "out/n": absent, "out/e/n": absent},
	},
}
