package sandboxfs

import (
	"github.com/hanwen/go-fuse/v2/fuse"
)

// part serves one connection.
type part struct {
	Part
	fuse.RawFileSystem
	v *View
}

func newPart(v *View, what Part, layout []Part) (*part, error) {
	return &part{Part: what, RawFileSystem: fuse.NewDefaultRawFileSystem(), v: v}, nil
}

func (p *part) close()                            {}
func (p *part) passes() bool                      { return false }
func (p *part) addStats(s *Stats)                 {}
func (p *part) requestSize() int                  { return smallRequest }
func (p *part) serverOptions() *fuse.MountOptions { return &fuse.MountOptions{} }
