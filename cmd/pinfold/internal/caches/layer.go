package caches

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bounds on what layers take up.
const (
	// MaxBytes is how much all layers of a user may hold. It is looked at when a run
	// with a layer begins, at most once an hour: while it goes on a run can write more,
	// as in any place where it may write.
	MaxBytes = 10 << 30
	// KeptFor is how long a layer is kept that nobody uses.
	KeptFor = 30 * 24 * time.Hour

	checkedEvery = time.Hour
	maxDepth     = 64 // of directories that are measured; a layer with deeper ones counts as too large
	perFile      = 256
)

// Names in the directory of all layers, and in that of one.
const (
	aboutName   = "about"   // in a layer: the project's root; its time is that of the last use
	checkedName = "checked" // when sizes were looked at
	tempPrefix  = "temp-"   // of a layer that is thrown away
	upperName   = "upper"
	workName    = "work"
)

// ErrBusy says that a run uses a layer, or that it is being removed.
var ErrBusy = errors.New("a run is using it")

// idOf is the name of a layer's directory: of the project, by the path of its root, and
// the cache.
func idOf(root, cache string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:8]) + "-" + cache
}

// cacheOf is the cache that a directory's name is about; "" for other names.
func cacheOf(name string) (cache string, temporary bool) {
	rest, temporary := strings.CutPrefix(name, tempPrefix)
	id, cache, ok := strings.Cut(rest, "-")
	if temporary {
		cache, _, _ = strings.Cut(cache, "-")
	}
	if _, err := hex.DecodeString(id); err != nil || len(id) != 16 || !ok || !slices.Contains(Names(), cache) {
		return "", false
	}
	return cache, temporary
}

// Layer is what there is of one layer.
type Layer struct {
	Cache   string
	Project string // the root
	Used    time.Time
	Bytes   int64
	// Large says that it holds more than is counted.
	Large bool
	// Temporary is one that is thrown away, of a run that was not alone.
	Temporary bool
	Busy      bool // a run uses it

	name string
}

// Shown is a part of a layer as a run shows it.
type Shown struct {
	Path string // where, outside and inside
	Own  bool   // without the host's
	Dir  string // of the layer
}

// Plan is what a run with caches shows and is told, before anything is made.
type Plan struct {
	Cache Cache
	Parts []Shown  // without Dir
	Env   []string // KEY=VALUE
}

// PlanFor finds where the caches of these names lie.
func PlanFor(h Host, names []string) (plans []Plan, err error) {
	for _, name := range names {
		c, ok := Find(name)
		if !ok {
			return nil, fmt.Errorf("no cache is called %q", name)
		}
		if slices.ContainsFunc(plans, func(p Plan) bool { return p.Cache.Name == name }) {
			continue
		}
		p := Plan{Cache: c}
		for _, d := range c.Dirs {
			at := h.Place(d)
			if at == "" {
				return nil, fmt.Errorf("where the cache %q lies is not known: there is no home, and $%s is not set", name, d.Variable)
			}
			p.Env = append(p.Env, d.Variable+"="+at)
			for _, part := range d.Parts {
				p.Parts = append(p.Parts, Shown{Path: filepath.Join(at, filepath.FromSlash(part.Path)), Own: part.Own})
			}
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// parts are the parts of a cache, in the order of Plan.Parts.
func (c Cache) parts() (list []Part) {
	for _, d := range c.Dirs {
		list = append(list, d.Parts...)
	}
	return list
}
