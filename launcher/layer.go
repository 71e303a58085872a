package launcher

import (
	"errors"
	"fmt"
	"path"
)

// layers shows Config.Layers, each at its path. Directories above that nothing shows are
// made; in a private home the command may write them.
func (b *builder) layers() {
	for _, l := range b.host.Layers {
		b.item(l.Path, func() {
			b.mountpoint(l.Path)
			b.add(planStep{Do: doLayer, Path: l.Path, From: l.Lower, Layer: l.Dir, Write: true})
			b.plan.Writable = append(b.plan.Writable, l.Path)
		})
	}
}

// checkLayers refuses layers by which something could be read or written past its rules.
func checkLayers(c Config, host hostFacts) error {
	refuse := func(fix, format string, args ...any) error {
		return &SetupError{Step: "show a cache", Err: fmt.Errorf(format, args...), Fix: fix}
	}
	const elsewhere = "name another directory by the program's own variable, or leave the cache out"
	if len(host.Layers) > 0 && c.User != "" {
		return &SetupError{Step: "show a cache", Err: errors.New("a layer over your own cache is not for another user"), Fix: "leave out --cache or --user"}
	}
	for i, l := range host.Layers {
		if !path.IsAbs(l.Path) || path.Clean(l.Path) != l.Path || l.Path == "/" {
			return refuse(elsewhere, "%q is not a clean absolute path", l.Path)
		}
		for _, at := range []string{l.Path, l.Lower} {
			if at == "" {
				continue
			}
			for _, s := range systemPlaces {
				if beneath(at, s) || beneath(s, at) {
					return refuse(elsewhere, "%q lies in, or holds, %s", at, s)
				}
			}
			for _, v := range c.views() {
				if beneath(at, v.Root) || beneath(v.Root, at) {
					return refuse(elsewhere, "%q and %q lie within each other, and the project's own rules hold there", at, v.Root)
				}
			}
			for _, home := range []string{host.ID.Home, host.HomeDir} {
				if home != "" && beneath(home, at) {
					return refuse(elsewhere, "%q holds the home %q", at, home)
				}
			}
		}
		if h := host.HomeDir; h != "" && l.Lower != "" && beneath(l.Lower, h) {
			return refuse("leave the cache out: what --home keeps is kept", "%q lies in the home %q, where it can be written", l.Lower, h)
		}
		for _, ro := range host.RO {
			if beneath(ro.Path, l.Path) {
				return refuse("leave --ro out: the cache is shown", "--ro %q lies in the cache %q", ro.Path, l.Path)
			}
		}
		for _, other := range host.Layers[:i] {
			if beneath(l.Path, other.Path) || beneath(other.Path, l.Path) {
				return refuse("leave one of the two out", "the caches %q and %q lie within each other", other.Path, l.Path)
			}
		}
	}
	return nil
}
