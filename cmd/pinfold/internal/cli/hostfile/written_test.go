package hostfile

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

func TestWritten(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // the record is kept by runs
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Setenv("XDG_STATE_HOME", base+"/state")
	home, root := base+"/my \"home\"\n", base+"/root"
	for _, dir := range []string{home, root + "/out", base + "/keys"} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	places, err := writtenPlaces()
	require.NoError(t, err)
	require.Empty(t, places)

	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out", "later"}})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	for range 2 { // the second adds nothing
		known, err := rememberWritten(places, home, r.Root(), r.WritePaths())
		require.NoError(t, err)
		places, err = writtenPlaces()
		require.NoError(t, err)
		require.Equal(t, places, known)
		require.ElementsMatch(t, []string{home, root + "/out", root + "/later"}, places)
	}

	// A link that one of these places holds leads nowhere else.
	require.NoError(t, os.Symlink(base+"/keys", root+"/out/link"))
	_, err = RefusePlanted(root+"/out/link", places)
	require.ErrorContains(t, err, "a link in a place that a run could write, to '"+base+"/keys'")
	real, err := RefusePlanted(base+"/keys", places)
	require.NoError(t, err)
	require.Equal(t, base+"/keys", real)
	require.NoError(t, os.Symlink(base+"/keys", base+"/mine"))
	real, err = RefusePlanted(base+"/mine", places)
	require.NoError(t, err)
	require.Equal(t, base+"/keys", real, "nobody else could have made it")

	// A line that was cut off, and one that is none, do no harm.
	f, err := os.OpenFile(writtenFile(), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString("\"relative\"\n\n\"/cut")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	places, err = writtenPlaces()
	require.NoError(t, err)
	require.Len(t, places, 3)
}

// The record has a bound; what is gone leaves it first.
func TestWrittenIsBounded(t *testing.T) {
	there := t.TempDir()
	var places []string
	for i := range maxWritten {
		places = append(places, fmt.Sprintf("/gone/%d", i))
	}
	require.Equal(t, []string{there}, fewerWritten(append(places, there)))
	var same []string
	for range maxWritten + 1 {
		same = append(same, there)
	}
	require.Len(t, fewerWritten(same), maxWritten/2)

	var text strings.Builder
	for _, place := range places {
		fmt.Fprintf(&text, "%q\n", place)
	}
	name := filepath.Join(there, "written")
	require.NoError(t, replaceWritten(name, places))
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, text.String(), string(data))
	entries, err := os.ReadDir(there)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// What is read as it stands means the same as what is unquoted.
func TestUnquoted(t *testing.T) {
	for _, place := range []string{"/a", "/a b/c", `/with"quote`, `/back\slash`, "/new\nline", "/\xff", "/é", ""} {
		got, ok := unquoted(strconv.Quote(place))
		require.True(t, ok, "%q", place)
		require.Equal(t, place, got)
	}
	for _, line := range []string{"", `"`, "/a", `"/a`, `/a"`, `"/a"b"`, `"\x"`} {
		_, ok := unquoted(line)
		require.False(t, ok, "%q", line)
	}
}
