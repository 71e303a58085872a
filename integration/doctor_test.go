package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/launcher"
)

// aPlace is a machine that lacks something, as package insider prepares it.
type aPlace struct {
	name string
	// nested is a user namespace around it, which root has made for itself and others.
	nested bool
	// asRoot is one that the user has made, as unshare -Ur does, and is root in.
	asRoot bool
	// natural: an ordinary user can prepare it, too.
	natural bool
	// root and user say whether pinfold run works there.
	root, user bool
	// missing are findings that name what is missing, with the line to paste.
	missing map[string]string
}

var somePlaces = []aPlace{
	{name: "nothing missing", natural: true, root: true, user: true},
	{name: "no /dev/fuse", missing: map[string]string{"fuse": moduleOrDevice()}},
	{name: "/dev/fuse 0600", root: true, missing: map[string]string{"fuse": "sudo chmod 0666 /dev/fuse"}},
	{name: "no user namespaces", nested: true, root: true, missing: map[string]string{"namespaces": "sudo sysctl -w user.max_user_namespaces=15000"}},
	{name: "no procfs", missing: map[string]string{"proc": "sudo mount -t proc proc /proc"}},
	{name: "nothing missing", nested: true, natural: true, root: true, user: true},
	{name: "nothing missing", asRoot: true, natural: true, root: true, user: true},
	{name: "no mount", natural: true, missing: map[string]string{"mounts": "--security-opt seccomp=unconfined"}},
	{name: "container", natural: true, missing: map[string]string{"namespaces": "--security-opt seccomp=unconfined"}},
	{name: "no pivot_root", natural: true, missing: map[string]string{"run": "--security-opt seccomp=unconfined"}},
	{name: "chroot", missing: map[string]string{"mounts": "sudo systemd-nspawn --bind /dev/fuse -D DIR"}},
	{name: "read-only /tmp", root: true, user: true},
	{name: "no newuidmap", root: true, user: true},
	{name: "no openat2 (ENOSYS)", natural: true, root: true, user: true},
	{name: "no openat2 (EPERM)", natural: true, root: true, user: true},
	{name: "no cgroup", root: true, user: true},
}

// TestDoctorAgreesWithRun holds that pinfold doctor says yes exactly where pinfold run
// works, and otherwise names what is missing with a line that mends it.
func TestDoctorAgreesWithRun(t *testing.T) {
	for _, p := range somePlaces {
		name := p.name
		if p.nested {
			name += ", in a user namespace"
		}
		if p.asRoot {
			name += ", by unshare -Ur"
		}
		if !isRoot && !p.natural {
			continue // root's run does it as this user
		}
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			for _, u := range users() {
				s := newSite(t, u.uid, true)
				s.own()
				ran, saying := p.call(s, "run", "-w", "out", "--", "true")
				works, said := p.call(s, "doctor", "--json")
				var report struct {
					OK       bool
					Findings []launcher.Finding
				}
				require.NoError(t, json.Unmarshal([]byte(said), &report), said)
				fmt.Printf("[table] %-40s uid %-5d run %-5v doctor %v\n", name, u.uid, ran, works)
				want := p.user
				if u.uid == 0 {
					want = p.root
				}
				assert.Equal(t, want, ran, "run: %s", saying)
				assert.Equal(t, ran, works, "doctor does not agree: %s\nrun: %s", said, saying)
				assert.Equal(t, works, report.OK)
				if want {
					continue
				}
				require.NotEmpty(t, p.missing)
				for _, f := range report.Findings {
					line, named := p.missing[f.Name]
					if named {
						assert.False(t, f.OK, "%+v", f)
						assert.True(t, f.Required, "%+v", f)
						assert.Equal(t, line, f.Paste, "%+v", f)
					}
					if f.Required && !f.OK {
						assert.NotEmpty(t, f.Fix, "%+v", f)
					}
				}
				_, text := p.call(s, "doctor")
				for _, line := range p.missing {
					assert.Contains(t, text, "type: "+line+"\n")
				}
				assert.Contains(t, text, "pinfold run does not work here\n")
				if p.name == "/dev/fuse 0600" {
					_, page, _ := strings.Cut(pageText(t, "docs/install.md"), "$ pinfold doctor\nmissing")
					page, _, found := strings.Cut(page, "...\n")
					assert.True(t, found)
					assert.Contains(t, text, "missing"+page, "docs/install.md shows this")
				}
				list, err := os.ReadDir(s.root)
				require.NoError(t, err)
				assert.Empty(t, list, "something is left")
			}
		})
	}
}

// moduleOrDevice is what mends a missing /dev/fuse on this machine.
func moduleOrDevice() string {
	if exists("/.dockerenv") || exists("/run/.containerenv") || os.Getenv("container") != "" {
		return "--device /dev/fuse"
	}
	return "sudo modprobe fuse"
}

// call calls pinfold as the site's user in the place, and reports whether it succeeded.
func (p aPlace) call(s *site, args ...string) (bool, string) {
	uid, fuse := s.uid, fuseNode
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if !isRoot {
		fuse = ""
	}
	switch {
	case p.asRoot:
		uid = 0
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: s.uid, Size: 1}}
		attr.Credential = &syscall.Credential{NoSetGroups: true}
	case p.nested && isRoot:
		attr.UidMappings = []syscall.SysProcIDMap{{Size: nobody + 1}}
		attr.GidMappingsEnableSetgroups = true
	case p.nested || !isRoot:
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: s.uid, HostID: s.uid, Size: 1}}
		attr.AmbientCaps = everyCapability()
	}
	if attr.UidMappings != nil {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.GidMappings = attr.UidMappings
	}
	cmd := exec.Command(insiderPath, append([]string{"place", p.name, strconv.Itoa(uid), fuse, pinfold}, args...)...)
	cmd.SysProcAttr = attr
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), "HOME="+s.base, "NO_COLOR=1")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	return err == nil, out.String() + said.String()
}

// everyCapability is what a new user namespace gives.
func everyCapability() (list []uintptr) {
	for c := uintptr(0); c <= 40; c++ {
		list = append(list, c)
	}
	return list
}
