package claudecode

import "testing"

// W5: what is allowed without a person, because it only looks, writes nothing
// and reads nothing outside.
func TestPlainCommandsStay(t *testing.T) {
	listed := []string{"git log", "git diff", "git show", "git commit", "ls", "go test"}
	for command, want := range map[string]bool{
		"git diff": true, "git log main..dev src/a": true, "git diff main...dev": true, "git log --oneline -5": true, "ls -l src": true,
		"git show HEAD:src/a": true, "git log --format=%h": true, "go test ./... -run X": true,
		"git diff --output=x": false, "git diff --outp x": false, "git log --o=x": false, "git diff --no-index a b": false,
		"git diff /dev/null /etc/passwd": false, "git diff a ../b": false, "git commit -F/etc/passwd": false,
		"git commit --template=/etc/passwd": false, "ls ..": false, "ls /root": false, "git log --ext-diff": false,
		"git diff --output=../x": false,
	} {
		if got := IsPlain(command, listed); got != want {
			t.Errorf("%q: %v, want %v", command, got, want)
		}
	}
}
