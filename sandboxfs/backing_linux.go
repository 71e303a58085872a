package sandboxfs

import (
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// probePassthrough finds out whether the kernel takes a file from us to read
// and write it by itself. It does so for root in the initial user namespace.
func (p *part) probePassthrough() {
	// The file behind a write path that is a file may be replaced on the host
	// while it is open: then one kernel inode would have two backing files.
	if p.ReadOnly || p.File || !p.v.o.Passthrough {
		return
	}
	fd, err := unix.MemfdCreate("probe", unix.MFD_CLOEXEC)
	if err != nil {
		return
	}
	defer closeFD(fd)
	if id, e := p.conn.RegisterBacking(fd); e == 0 {
		p.unregister(id)
		p.passthrough.Store(true)
	}
}

// passes reports whether the kernel moves the data of open files itself.
func (p *part) passes() bool { return p.passthrough.Load() }

// answerOpen makes a handle of fd and tells the kernel how to use it. sx is
// how the file was when it was opened; nil if it was made, or is about to change.
func (p *part) answerOpen(n *node, fd int, writable bool, sx *unix.Statx_t, out *fuse.OpenOut) {
	h, backing := p.opens.add(n, fd, writable, func() int32 {
		if !p.passes() || p.isGitText(n) {
			return 0
		}
		id, e := p.conn.RegisterBacking(fd)
		if e != 0 {
			return 0 // the server moves the data while this file is open
		}
		return id
	})
	out.Fh = h.id
	if !writable {
		// Nothing is to be flushed. Only a POSIX read lock would be given back
		// by close(2); one taken through such a handle goes with the handle.
		out.OpenFlags = fuse.FOPEN_NOFLUSH
	}
	if backing > 0 {
		out.OpenFlags |= fuse.FOPEN_PASSTHROUGH
		out.BackingID = backing
	} else if sx != nil && !n.fixed && p.stamps.unchanged(n, sx) {
		out.OpenFlags |= fuse.FOPEN_KEEP_CACHE
	}
}

// unregister gives back the kernel's id of a file. It fails only when the
// connection has ended, and the id with it.
func (p *part) unregister(id int32) {
	p.conn.UnregisterBacking(id)
}
