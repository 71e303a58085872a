package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// elsewhere are the codes that no session shows, and where they are tested.
var elsewhere = map[string]string{
	"path_not_readable": "no flag bounds reading, and of a policy only what can be read is written: TestValidateReadPaths in pathresolver",
	"nothing_readable":  "no flag bounds reading, and a policy is refused before: TestValidateReadPaths in pathresolver",
	"path_asked":        "a policy's list leaves out what is only to be asked for: TestAskedWritePath in pathresolver",

	"path_mount":    "takes two users: TestCheckRefusesAMountOfOthers",
	"mount_refused": "takes root: TestAttackKernelFiles in integration",
}

// TestEveryCodeHasASession holds that each code of pathresolver's table stands
// in the expected output of a session.
func TestEveryCodeHasASession(t *testing.T) {
	files, err := filepath.Glob("testdata/script/check_*.txtar")
	require.NoError(t, err)
	var sessions strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		sessions.Write(text)
	}
	codes := constants(t, "../../pathresolver/violation.go", "access.Code")
	require.NotEmpty(t, codes)
	for _, code := range codes {
		shown := regexp.MustCompile(`(error|warning)\\?\[` + code + `\\?\]`).MatchString(sessions.String())
		if _, listed := elsewhere[code]; listed {
			require.False(t, shown, "%s has a session: take it off the list", code)
			continue
		}
		require.True(t, shown, "no session shows %s", code)
	}
}

// constants are the values of a file's string constants of one type.
func constants(t *testing.T, file, typeName string) (values []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if spec.Type != nil && types.ExprString(spec.Type) == typeName {
			for _, v := range spec.Values {
				s, err := strconv.Unquote(v.(*ast.BasicLit).Value)
				require.NoError(t, err)
				values = append(values, s)
			}
		}
		return true
	})
	return values
}
