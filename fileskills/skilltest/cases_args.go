package skilltest

import (
	"strings"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// arguments are about inputs that are wrong.
var arguments = []testCase{{
	name:  "arguments are taken strictly (T04)",
	write: []string{"out"},
	calls: []want{
		{skill: "read_file", raw: `{"path":"ok.txt","offset":null,"limit":""}`, text: []string{"ok"}},
		{skill: "read_file", raw: `{"path":"ok.txt","offset":1.0}`, text: []string{"ok"}},
		{skill: "read_file", raw: `{"path":"ok.txt","offset":1.5}`, code: fileskills.CodeInvalidArgument, text: []string{"whole number"}},
		{skill: "read_file", raw: `{"pth":"ok.txt"}`, code: fileskills.CodeInvalidArgument, text: []string{"pth"}},
		{skill: "read_file", raw: `{"path":"ok.txt","extra":1}`, code: fileskills.CodeInvalidArgument, text: []string{"extra"}},
		{skill: "read_file", raw: `{}`, code: fileskills.CodeInvalidArgument, text: []string{"path"}},
		{skill: "read_file", raw: `{"path":7}`, code: fileskills.CodeInvalidArgument},
		{skill: "read_file", raw: `{"Path":"ok.txt"}`, code: fileskills.CodeInvalidArgument},
		{skill: "read_file", raw: `{"path":""}`, code: fileskills.CodeInvalidArgument},
		{skill: "read_file", raw: `{"path":"a\u0000b"}`, code: fileskills.CodeInvalidArgument},
		{skill: "read_file", raw: `{"path":"ok.txt","offset":0}`, code: fileskills.CodeInvalidArgument},
		{skill: "read_file", in: args{"path": strings.Repeat("x/", 5000)}, code: fileskills.CodeInvalidArgument},
		{skill: "edit_file_batch", raw: `{"path":"out/f","edits":[{"old_string":"a","new_string":"b","path":"../x"}]}`, code: fileskills.CodeInvalidArgument},
		{skill: "read_file", in: args{"path": "ok.txt"}, text: []string{"ok"}}, // it lives on
	},
}}
