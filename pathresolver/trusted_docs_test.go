package pathresolver_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/internal/trusted"
)

// docs/protected-files.md has the two tables as the code has them.
func TestTrustedFilesAreDocumented(t *testing.T) {
	const file = "../docs/protected-files.md"
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	text := string(data)
	for name, table := range map[string]string{"trusted": trustedTable(), "later": laterTable()} {
		begin, end := "<!-- "+name+": go test ./pathresolver -update writes it -->\n", "<!-- end of "+name+" -->"
		head, rest, ok := strings.Cut(text, begin)
		require.True(t, ok, name)
		have, tail, ok := strings.Cut(rest, end)
		require.True(t, ok, name)
		if *update {
			text = head + begin + table + end + tail
			continue
		}
		require.Equal(t, table, have)
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
}

func trustedTable() string {
	var b strings.Builder
	b.WriteString("\n| name | glob | what happens | source |\n|---|---|---|---|\n")
	for _, f := range trusted.Files() {
		what := f.String()
		if len(f.But) > 0 {
			what += "; but not `" + strings.Join(f.But, "`, `") + "` there, which are text"
		}
		source := f.Source
		if strings.HasPrefix(source, "https://") {
			source = "<" + source + ">"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", f.Name, f.Glob, what, source)
	}
	return b.String() + "\n"
}

func laterTable() string {
	globs := map[string][]string{}
	var keys []string
	for _, l := range trusted.RunsLater() {
		key := l.When + " | " + l.Program
		if globs[key] == nil {
			keys = append(keys, key)
		}
		globs[key] = append(globs[key], "`"+l.Glob+"`")
	}
	var b strings.Builder
	b.WriteString("\n| when | program | files |\n|---|---|---|\n")
	for _, key := range keys {
		fmt.Fprintf(&b, "| %s | %s |\n", key, strings.Join(globs[key], " "))
	}
	return b.String() + "\n"
}
