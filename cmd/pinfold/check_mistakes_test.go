package main

import (
	"encoding/json"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
	"github.com/pinfold-dev/pinfold/permission"
)

// found is what a format says of a finding.
type found struct {
	file string
	line int
	code string
}

// mistakes are those that a check is there for: each with the finding that
// names it, and the files that mend it.
var mistakes = []struct {
	name   string
	files  clitest.Tree
	want   found
	mended clitest.Tree
}{

	{ // W3, W10
		name:   "write path outside the project",
		files:  clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\nfs:\n  write: [docs, /etc]\n"},
		want:   found{"p.yaml", 4, "path_outside"},
		mended: clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\nfs:\n  write: [docs]\n"},
	},
	{ // W10
		name:   "prefix sibling",
		files:  clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\nfs: {write: [ROOT-evil]}\n"},
		want:   found{"p.yaml", 3, "path_outside"},
		mended: clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\nfs: {write: [ROOT/evil]}\n"},
	},
	{ // W15
		name:   "write path that a link leads out of",
		files:  clitest.Tree{"out": "-> /etc", "p.yaml": "version: 1\nextends: sandboxed\nfs:\n  write:\n    - out/x\n"},
		want:   found{"p.yaml", 5, "path_symlink_out"},
		mended: clitest.Tree{"out/a": "", "p.yaml": "version: 1\nextends: sandboxed\nfs:\n  write:\n    - out/x\n"},
	},
	{ // T5
		name:   "typo in a restriction word",
		files:  clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\ntools:\n  nexus_send: {allowed_targets: parnt}\n"},
		want:   found{"p.yaml", 4, "unknown_word"},
		mended: clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\ntools:\n  nexus_send: {allowed_targets: parent}\n"},
	},
	{ // P10
		name:   "unknown tool",
		files:  clitest.Tree{"a.md": "---\nname: coder\ntools:\n  - Read\n  - Teleport\n---\n"},
		want:   found{"a.md", 5, "unknown_tool"},
		mended: clitest.Tree{"a.md": "---\nname: coder\ntools:\n  - Read\n---\n"},
	},
	{
		name:   "two agents of one name",
		files:  clitest.Tree{"a.md": "---\nname: coder\n---\n", "b.md": "---\ndescription: another\nname: coder\n---\n"},
		want:   found{"b.md", 3, "duplicate_agent"},
		mended: clitest.Tree{"a.md": "---\nname: coder\n---\n", "b.md": "---\ndescription: another\nname: frontend-coder\n---\n"},
	},
	{ // P10
		name:   "tools beyond the profile",
		files:  clitest.Tree{"a.md": "---\nname: code-reviewer\nprofile: READ_ONLY\ntools: Read, Write\n---\n"},
		want:   found{"a.md", 4, "beyond_profile"},
		mended: clitest.Tree{"a.md": "---\nname: code-reviewer\nprofile: READ_ONLY\ntools: Read\n---\n"},
	},
	{ // T5
		name:   "reserved word as an agent's id",
		files:  clitest.Tree{"a.md": "---\ndescription: x\nname: children\nprofile: WRITE\n---\n"},
		want:   found{"a.md", 3, "reserved_word"},
		mended: clitest.Tree{"a.md": "---\ndescription: x\nname: child\nprofile: WRITE\n---\n"},
	},
	{ // X3
		name:   "empty allowlist",
		files:  clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\ncross_send:\n  mode: allowlist\n  allowlist: []\n"},
		want:   found{"p.yaml", 5, "empty_list"},
		mended: clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\ncross_send:\n  mode: allowlist\n  allowlist: [\"agent:main:*\"]\n"},
	},
	{ // M5
		name:   "unreachable rule",
		files:  clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\ntools:\n  Read: {}\n  run_python: {}\n"},
		want:   found{"p.yaml", 5, "unreachable_rule"},
		mended: clitest.Tree{"p.yaml": "version: 1\nextends: trusted\ntools:\n  Read: {}\n  run_python: {}\n"},
	},
	{
		name:   "hide of a path where nothing is",
		files:  clitest.Tree{"secrets/key": "", "p.yaml": "version: 1\nextends: sandboxed\nfs:\n  hide:\n    - \"**/.env\"\n    - secret\n"},
		want:   found{"p.yaml", 6, "hides_nothing"},
		mended: clitest.Tree{"secrets/key": "", "p.yaml": "version: 1\nextends: sandboxed\nfs:\n  hide:\n    - \"**/.env\"\n    - Secrets\n"},
	},
	{
		name:   "hide beneath what is hidden",
		files:  clitest.Tree{"secrets/key": "", "p.yaml": "version: 1\nextends: sandboxed\nfs:\n  hide:\n    - secrets\n    - secrets/*.pem\n"},
		want:   found{"p.yaml", 6, "hides_nothing"},
		mended: clitest.Tree{"secrets/key": "", "p.yaml": "version: 1\nextends: sandboxed\nfs:\n  hide:\n    - secrets\n    - \"*.pem\"\n"},
	},
	{
		name:   "hide through a link",
		files:  clitest.Tree{"l": "-> d", "d/key": "", "p.yaml": "version: 1\nextends: sandboxed\nfs: {hide: [l/key]}\n"},
		want:   found{"p.yaml", 3, "hides_nothing"},
		mended: clitest.Tree{"l": "-> d", "d/key": "", "p.yaml": "version: 1\nextends: sandboxed\nfs: {hide: [d/key, l]}\n"},
	},
	{
		name:   "hide outside the project",
		files:  clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\nfs: {hide: [../other]}\n"},
		want:   found{"p.yaml", 3, "bad_value"},
		mended: clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\nfs: {hide: [\"**/other\"]}\n"},
	},
	{ // M8
		name:   "YAML anchor",
		files:  clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\nfs:\n  write: &w [docs]\n  protect: *w\n"},
		want:   found{"p.yaml", 4, "syntax"},
		mended: clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\nfs:\n  write: [docs]\n"},
	},
	{ // M8
		name:   "duplicate key",
		files:  clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\nnetwork: false\nextends: trusted\n"},
		want:   found{"p.yaml", 4, "duplicate_key"},
		mended: clitest.Tree{"p.yaml": "version: 1\nextends: sandboxed\nnetwork: false\n"},
	},
	{ // M4; where the user may not read it: check_project.txtar
		name:   "unreadable file",
		files:  clitest.Tree{"a.md": "-> nowhere.md", "b.md": "---\nname: coder\n---\n"},
		want:   found{"a.md", 1, "unreadable"},
		mended: clitest.Tree{"a.md": "-> b.md", "b.md": "---\nname: coder\n---\n"},
	},
}

// TestMistakesAreFound holds that check finds each mistake in its line, in every
// format, and nothing in the files that mend it.
func TestMistakesAreFound(t *testing.T) {
	sarif := clitest.Schema(t, "testdata/sarif-schema-2.1.0.json")
	files := clitest.Schema(t, "../../docs/schema/check-files.schema.json")
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "p")
			m.files.Make(t, root)
			mended := filepath.Join(t.TempDir(), "p")
			m.mended.Make(t, mended)
			want := m.want
			want.file = filepath.Join(root, want.file)
			for _, format := range slices.Sorted(maps.Keys(readers)) {
				code, out := call(t, "check", "-C", root, "--strict", "--format", format, root)
				require.Equal(t, cli.ExitFailed, code, "%s: %s", format, out)
				require.Contains(t, readers[format](t, out), want, "%s: %s", format, out)
				switch format {
				case "sarif":
					clitest.Validate(t, sarif, out)
				case "json":
					clitest.Validate(t, files, out)
				}
				code, out = call(t, "check", "-C", mended, "--strict", "--format", format, mended)
				require.Equal(t, cli.ExitOK, code, "%s: %s", format, out)
				require.Empty(t, readers[format](t, out), "%s: %s", format, out)
			}
		})
	}
}

// readers read the findings out of each format.
var readers = map[string]func(*testing.T, string) []found{
	"text": func(_ *testing.T, out string) []found {
		return foundBy(regexp.MustCompile(`(?m)^(?P<file>[^:\n]+):(?P<line>\d+):\d+: error\[(?P<code>\w+)\]: .`), out)
	},
	"github": func(_ *testing.T, out string) []found {
		return foundBy(regexp.MustCompile(`(?m)^::error file=(?P<file>[^,\n]+),line=(?P<line>\d+),col=\d+,title=pinfold check%3A (?P<code>\w+)::.`), out)
	},
	"json": func(t *testing.T, out string) (list []found) {
		var r struct{ Problems []permission.Problem }
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		for _, p := range r.Problems {
			list = append(list, found{p.File, p.Line, p.Code})
		}
		return list
	},
	"sarif": func(t *testing.T, out string) (list []found) {
		var l struct {
			Runs []struct {
				Results []struct {
					RuleID    string
					Locations []struct {
						PhysicalLocation struct {
							ArtifactLocation struct{ URI string }
							Region           struct{ StartLine int }
						}
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(out), &l))
		for _, r := range l.Runs[0].Results {
			at := r.Locations[0].PhysicalLocation
			u, err := url.Parse(at.ArtifactLocation.URI)
			require.NoError(t, err)
			list = append(list, found{u.Path, at.Region.StartLine, r.RuleID})
		}
		return list
	},
}

func foundBy(re *regexp.Regexp, out string) (list []found) {
	for _, m := range re.FindAllStringSubmatch(out, -1) {
		line, _ := strconv.Atoi(m[re.SubexpIndex("line")])
		list = append(list, found{m[re.SubexpIndex("file")], line, m[re.SubexpIndex("code")]})
	}
	return list
}
