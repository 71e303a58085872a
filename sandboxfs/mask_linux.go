package sandboxfs

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/mask"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Bounds of the masked copies of a view: those that nobody reads are kept up to the
// first, those that are open up to the others.
const (
	maxIdleMasked  = 64
	maxMasked      = 1024
	maxMaskedBytes = 256 << 20
)

// masks are masked copies of files, in memory. Programs read these and never the files:
// the server moves the data, and the kernel caches what it moved. The key lasts as long
// as the view, so that a value has one stand-in everywhere in it.
type masks struct {
	key mask.Key

	mu     sync.Mutex
	copies map[maskedFile]*maskedCopy
	bytes  int64  // of all copies that exist
	count  int    // of all copies that exist
	turn   uint64 // counts uses
}

// maskedFile is a content that was masked: a file as it was, under a name that tells its
// format.
type maskedFile struct {
	ident identity
	was   stamp
	name  string
}

// maskedCopy is what is shown of a file. It is freed when nobody uses it and masks has
// forgotten it. All but fd and unclear are guarded by masks.mu.
type maskedCopy struct {
	fd      int   // a memfd; -1 where nothing is shown
	unclear error // why
	size    int64
	users   int
	kept    bool // in masks.copies
	last    uint64
}

func (m *masks) init() {
	_, _ = rand.Read(m.key[:]) // never fails
	m.copies = map[maskedFile]*maskedCopy{}
}

// of returns the masked copy of the regular file fd, to be given back with drop. What is
// not understood is a *mask.UnclearError.
func (m *masks) of(fd int, name string) (*maskedCopy, error) {
	var sx unix.Statx_t
	if err := statFD(fd, &sx); err != nil {
		return nil, err
	}
	key := maskedFile{identityOf(&sx), stampOf(&sx), path.Base(name)}
	m.mu.Lock()
	if c := m.copies[key]; c != nil {
		c.users++
		m.turn++
		c.last = m.turn
		m.mu.Unlock()
		return m.result(c)
	}
	full := m.count >= maxMasked || m.bytes+int64(sx.Size) > maxMaskedBytes
	m.mu.Unlock()
	if full {
		return nil, unix.ENFILE
	}
	c, err := m.make(fd, name)
	if err != nil {
		return nil, err
	}
	var now unix.Statx_t
	stays := statFD(fd, &now) == nil && stampOf(&now) == key.was && key.was.isSettled()
	m.mu.Lock()
	m.count++
	m.bytes += c.size
	m.turn++
	c.users, c.last = 1, m.turn
	if stays && m.copies[key] == nil {
		m.copies[key], c.kept = c, true
		m.trim()
	}
	m.mu.Unlock()
	return m.result(c)
}

func (m *masks) result(c *maskedCopy) (*maskedCopy, error) {
	if c.unclear != nil {
		m.drop(c)
		return nil, c.unclear
	}
	return c, nil
}

// make reads a file and masks it.
func (m *masks) make(fd int, name string) (*maskedCopy, error) {
	data, err := readUpTo(fd, mask.MaxSize+1)
	if err != nil {
		return nil, err
	}
	shown, err := mask.File(m.key, name, data)
	if err != nil {
		return &maskedCopy{fd: -1, unclear: err}, nil
	}
	mem, err := unix.MemfdCreate("masked", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	for done := 0; done < len(shown) && err == nil; {
		var n int
		n, err = unix.Pwrite(mem, shown[done:], int64(done))
		done += n
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(mem), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	}
	if err != nil {
		closeFD(mem)
		return nil, err
	}
	return &maskedCopy{fd: mem, size: int64(len(shown))}, nil
}

// readUpTo reads a file from its beginning.
func readUpTo(fd, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(&atReader{fd: fd}, int64(most)))
	var e unix.Errno
	if errors.As(err, &e) {
		return nil, e
	}
	return data, err
}

// atReader reads a descriptor whose offset is left alone.
type atReader struct {
	fd int
	at int64
}

func (r *atReader) Read(p []byte) (int, error) {
	for {
		n, err := unix.Pread(r.fd, p, r.at)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		r.at += int64(n)
		return n, nil
	}
}

// drop gives a copy back.
func (m *masks) drop(c *maskedCopy) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.users--
	m.free(c)
	m.trim()
}

// free closes a copy that nobody uses and that is not kept. m.mu is held.
func (m *masks) free(c *maskedCopy) {
	if c.users > 0 || c.kept {
		return
	}
	m.count--
	m.bytes -= c.size
	if c.fd >= 0 {
		closeFD(c.fd)
	}
}

// trim forgets the copies that were used longest ago. m.mu is held.
func (m *masks) trim() {
	for {
		idle := 0
		var oldest maskedFile
		var found *maskedCopy
		for key, c := range m.copies {
			if c.users == 0 {
				idle++
				if found == nil || c.last < found.last {
					oldest, found = key, c
				}
			}
		}
		if idle <= maxIdleMasked {
			return
		}
		delete(m.copies, oldest)
		found.kept = false
		m.free(found)
	}
}

func (m *masks) closeAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, c := range m.copies {
		delete(m.copies, key)
		c.kept = false
		m.free(c)
	}
}

// maskedPlace says whether n is shown with stand-ins, and by which of its names. A file
// of which one name is masked is masked. c.moves is held.
func (c *connection) maskedPlace(n *node) (place string, masked bool) {
	rules := c.rules()
	if n.typ != unix.S_IFREG || !rules.MasksAny() {
		return "", false
	}
	places := c.tab.places(n)
	for _, place := range places {
		if rules.Verdict(place).Masked {
			return place, true
		}
	}
	if name := n.masked.Load(); name != nil { // it has no place any more
		return *name, true
	}
	return "", false
}

// shown is the masked copy of the file that was opened for n, nil where n is not masked.
// c.moves is held.
func (c *connection) shown(h *fuse.InHeader, call string, n *node, fd int) (*maskedCopy, error) {
	place, masked := c.maskedPlace(n)
	if !masked {
		return nil, nil
	}
	copied, err := c.v.masks.of(fd, place)
	var unclear *mask.UnclearError
	if errors.As(err, &unclear) {
		v := c.rules().Verdict(place)
		return nil, c.refuse(h, call, &pathresolver.DeniedError{
			Op: access.OpRead, Path: place, Place: place, Rule: RuleUnclear, Pattern: v.Pattern, Origin: v.Origin,
			Reason: "it cannot be shown with its values masked: " + unclear.Error()})
	}
	return copied, err
}

// refuseMaskedLink refuses a link that has a masked name where its target has none. Whether
// it is one by its text: what programs put in the way of that is no secret.
func (c *connection) refuseMaskedLink(h *fuse.InHeader, place, text string) error {
	v := c.rules().Verdict(place)
	if !v.Masked {
		return nil
	}
	target := path.Join(path.Dir(place), text)
	if !path.IsAbs(text) && target != ".." && !strings.HasPrefix(target, "../") && c.rules().Verdict(target).Masked {
		return nil
	}
	return c.refuse(h, "readlink", &pathresolver.DeniedError{
		Op: access.OpRead, Path: place, Place: place, Rule: RuleUnclear, Pattern: v.Pattern, Origin: v.Origin,
		Reason: "it is a link to what is not masked: mask that, too"})
}

// viewRules are the rules as a view asks them: what is masked may be read, since the
// view itself puts stand-ins in the place of the values.
type viewRules struct{ resolver }

func (r viewRules) Decide(op access.Op, place string, kind fs.FileMode) *pathresolver.DeniedError {
	return readable(op, r.resolver.Decide(op, place, kind))
}

func (r viewRules) DecideGranted(g pathresolver.Grant, op access.Op, place string, kind fs.FileMode) *pathresolver.DeniedError {
	return readable(op, r.resolver.DecideGranted(g, op, place, kind))
}

func readable(op access.Op, d *pathresolver.DeniedError) *pathresolver.DeniedError {
	if d != nil && op == access.OpRead && d.Rule == pathresolver.RuleMasked {
		return nil
	}
	return d
}
