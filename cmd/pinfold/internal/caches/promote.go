package caches

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// MaxSums is how long a file of checksums may be, in bytes.
const MaxSums = 32 << 20

// Bounds on what is taken over, in bytes.
const (
	maxModuleZip = 500 << 20 // as cmd/go has (golang.org/x/mod/zip, MaxZipFile)
	maxGoMod     = 16 << 20  // likewise (MaxGoMod)
	maxPackage   = 2 << 30   // of npm
)

// Result is what Promote did.
type Result struct {
	Taken   []string // what was taken over, by its name in the file of checksums
	There   int      // what was in the layer and is in the host's cache, too
	Refused []Refusal
}

// Refusal is what Promote did not take over.
type Refusal struct{ Name, Why string }

// piece is one file of a cache that a checksum is known for.
type piece struct {
	name  string // for messages
	place string // beneath the part, in the layer and in the host's cache
	most  int64
	sum   string
	// proves says whether the file at a path, a copy that nobody else knows, has the sum.
	proves func(file, sum string) error
	// beside are files that go with it and are made anew, by their places, before it.
	beside map[string][]byte
}

// goPieces are the files of modules that a go.sum names. A line that is none is an error:
// it is not the file that was meant.
func goPieces(sums []byte) (list []piece, err error) {
	lines := bufio.NewScanner(bytes.NewReader(sums))
	lines.Buffer(nil, 64<<10)
	for n := 1; lines.Scan(); n++ {
		f := strings.Fields(lines.Text())
		if len(f) == 0 {
			continue
		}
		if len(f) != 3 {
			return nil, fmt.Errorf("line %d is not one of a go.sum", n)
		}
		version, isMod := strings.CutSuffix(f[1], "/go.mod")
		if err := module.Check(f[0], version); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if !strings.HasPrefix(f[2], "h1:") {
			continue // a hash of a later go, which proves nothing here
		}
		dir, err := module.EscapePath(f[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		file, err := module.EscapeVersion(version)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		at := path.Join("cache/download", dir, "@v", file)
		if isMod {
			list = append(list, piece{name: f[0] + "@" + f[1], place: at + ".mod", most: maxGoMod, sum: f[2], proves: provesGoMod})
			continue
		}
		// What says when a version was made is not covered by any sum: it is made anew.
		list = append(list, piece{name: f[0] + "@" + version, place: at + ".zip", most: maxModuleZip, sum: f[2], proves: provesZip,
			beside: map[string][]byte{at + ".info": goInfo(version), at + ".ziphash": []byte(f[2])}})
	}
	return list, lines.Err()
}

// goInfo is the .info file of a version, as far as the version itself says.
func goInfo(version string) []byte {
	info := struct {
		Version string
		Time    *time.Time `json:",omitempty"`
	}{Version: version}
	if module.IsPseudoVersion(version) {
		if t, err := module.PseudoVersionTime(version); err == nil {
			info.Time = &t
		}
	}
	data, _ := json.Marshal(info) // of strings and a time
	return data
}

// maxNested is how deep the packages of a package-lock.json of version 1 are followed.
const maxNested = 100

type lockedPackage struct {
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
}

// nestedPackage is one of version 1.
type nestedPackage struct {
	lockedPackage
	Dependencies map[string]nestedPackage `json:"dependencies"`
}

// npmPieces are the packages that a package-lock.json names with a SHA-512.
func npmPieces(lock []byte) (list []piece, err error) {
	var doc struct {
		LockfileVersion int                        `json:"lockfileVersion"`
		Packages        map[string]json.RawMessage `json:"packages"`
		Dependencies    map[string]json.RawMessage `json:"dependencies"`
	}
	if err := json.Unmarshal(lock, &doc); err != nil {
		return nil, err
	}
	if doc.LockfileVersion < 1 {
		return nil, fmt.Errorf("it has no lockfileVersion")
	}
	seen := map[string]bool{}
	add := func(name string, p lockedPackage) {
		for sri := range strings.FieldsSeq(p.Integrity) {
			text, ok := strings.CutPrefix(sri, "sha512-")
			text, _, _ = strings.Cut(text, "?") // options, of which there are none yet
			sum, err := base64.StdEncoding.DecodeString(text)
			if !ok || err != nil || len(sum) != 64 || seen[string(sum)] {
				continue
			}
			seen[string(sum)] = true
			h := hex.EncodeToString(sum)
			list = append(list, piece{name: strings.TrimPrefix(name, "node_modules/") + "@" + p.Version, most: maxPackage, sum: h,
				place: path.Join("sha512", h[:2], h[2:4], h[4:]), proves: provesSHA512})
		}
	}
	for name, raw := range doc.Packages {
		var p lockedPackage
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("package %q: %w", name, err)
		}
		add(name, p)
	}
	if doc.Packages != nil {
		return list, nil // the other part is for older programs
	}
	var walk func(name string, p nestedPackage, depth int)
	walk = func(name string, p nestedPackage, depth int) {
		add(name, p.lockedPackage)
		for name, sub := range p.Dependencies {
			if depth < maxNested {
				walk(name, sub, depth+1)
			}
		}
	}
	for name, raw := range doc.Dependencies {
		var p nestedPackage
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("package %q: %w", name, err)
		}
		walk(name, p, 0)
	}
	return list, nil
}
