package viewbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/integration/bench/worker"
)

// Options say what a Bench shows, and to whom.
type Options struct {
	Name  string // the half's name: "root" or "user"
	Title string
	Dir   string              // where mount points are made; the owner removes it
	Tree  string              // what GrowTree made
	Bin   string              // where bench, pinfold, loopback and passthrough_ll are
	User  *syscall.Credential // nil: the bench's own
	Kinds []Kind
	Quick bool
}

// Bench is a set of environments that all show one tree. Close ends them.
type Bench struct {
	o    Options
	envs []*env
	half *figures.Half
}

// Start starts what can be started. A kind that can not takes no part, and a
// note says why; only when the bare tree itself fails is that an error.
func Start(ctx context.Context, o Options, p figures.Progress) (*Bench, error) {
	b := &Bench{o: o, half: &figures.Half{Name: o.Name, Title: o.Title, Base: "native"}}
	for _, k := range o.Kinds {
		p.Say("%s: starting %s", o.Name, k.Name)
		e, err := b.start(ctx, k)
		if err != nil {
			b.half.Notes = append(b.half.Notes, "left out: "+err.Error())
			if k.Name == b.half.Base || ctx.Err() != nil {
				b.Close()
				return nil, err
			}
			continue
		}
		b.envs = append(b.envs, e)
		b.half.Columns = append(b.half.Columns, k.Name)
	}
	return b, nil
}

func (b *Bench) start(ctx context.Context, k Kind) (*env, error) {
	if err := b.missing(k); err != nil {
		return nil, err
	}
	own := filepath.Join(b.o.Dir, b.o.Name+"-"+k.Name)
	e := &env{kind: k, user: b.o.User, paths: Paths{Tree: b.o.Tree, Bin: b.o.Bin,
		Point: filepath.Join(own, "point"), Upper: filepath.Join(own, "upper"), Scratch: filepath.Join(own, "scratch")}}
	for _, dir := range []string{own, e.paths.Point, e.paths.Upper, e.paths.Scratch, filepath.Join(b.o.Tree, worker.WriteDir), filepath.Join(b.o.Tree, worker.WriteDir, e.slot())} {
		if err := makeFor(dir, b.o.User); err != nil {
			return nil, err
		}
	}
	return e, e.start(ctx, b.o.Quick)
}

// makeFor makes a directory that belongs to user.
func makeFor(dir string, user *syscall.Credential) error {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if user == nil {
		return nil
	}
	return os.Chown(dir, int(user.Uid), int(user.Gid))
}

// Half is the table, empty until its Run is called with Work's rows.
func (b *Bench) Half() *figures.Half { return b.half }

// Close ends every environment. It may be called more than once.
func (b *Bench) Close() {
	for _, e := range b.envs {
		e.stop()
	}
	b.envs = nil
}

func (b *Bench) env(column string) *env {
	for _, e := range b.envs {
		if e.kind.Name == column {
			return e
		}
	}
	return nil
}

// measure does one row once in one environment.
func (b *Bench) measure(ctx context.Context, row worker.Row, column string) (float64, error) {
	if row.Writes {
		unix.Sync()
	}
	if row.Cold {
		if err := dropEntries(); err != nil {
			return 0, err
		}
	}
	r, err := b.env(column).worker.do(ctx, worker.Request{Row: row.Name})
	return r.NS, err
}

// startUp is the time from nothing to a command's end inside, in nanoseconds.
func (b *Bench) startUp(_ context.Context, column string) (float64, error) {
	e := b.env(column)
	cmd := e.command(e.inside([]string{"/bin/true"}))
	cmd.Dir = b.o.Tree
	words := &tail{}
	cmd.Stderr = words
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, words)
	}
	return float64(time.Since(began).Nanoseconds()), nil
}
