package fileskills

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"sync/atomic"
	"time"
)

// The bounds on how far files are searched ahead of the results.
const (
	grepBatch   = 32 // files of one job
	grepPending = 16 // jobs
)

// grepJob is some files of a walk, in its order. Each is searched for how many
// matches it has; the lines of those that are shown are read again, so that
// what a search holds does not grow with what it finds.
type grepJob struct {
	files []string // from the top
	found []scanned
	errs  []error
	done  chan struct{}
}

// grepRun searches the files of a walk in parallel and gives their counts to
// take, in the order of the walk.
type grepRun struct {
	walk    *walk
	pattern *linePattern
	want    scanWant
	take    func(rel string, s scanned, err error) (more bool, stop error)
	report  func()           // says how far the search is
	tick    <-chan time.Time // when to, within a directory; nil: never

	searched atomic.Int64 // files, also those whose turn has not come

	jobs    chan *grepJob
	pending []*grepJob
	next    *grepJob
	started int
}

func (g *grepRun) run(ctx context.Context, rules ignoreRules) error {
	g.jobs = make(chan *grepJob, grepPending)
	defer close(g.jobs)
	searching, cancel := context.WithCancel(ctx)
	defer cancel() // what was searched ahead for nothing
	more := true
	err := g.walk.run(ctx, rules, func(dir, name string, _ fs.FileMode) (bool, error) {
		if g.next == nil {
			g.next = &grepJob{files: make([]string, 0, grepBatch), done: make(chan struct{})}
		}
		g.next.files = append(g.next.files, joinRel(dir, name))
		if len(g.next.files) < grepBatch {
			return true, nil
		}
		g.start(searching)
		if len(g.pending) < grepPending {
			return true, nil
		}
		var err error
		more, err = g.finish(ctx)
		return more, err
	})
	if g.next != nil && err == nil && more {
		g.start(searching)
	}
	for len(g.pending) > 0 && err == nil && more {
		more, err = g.finish(ctx)
	}
	return err
}

// start gives the next job away. There is room for it: no more are pending
// than jobs holds.
func (g *grepRun) start(ctx context.Context) {
	job := g.next
	g.next = nil
	g.pending = append(g.pending, job)
	g.jobs <- job
	if g.started < min(maxWalkers, runtime.GOMAXPROCS(0)) {
		g.started++
		g.walk.using.Add(1)
		go g.work(ctx)
	}
}

// finish waits for the oldest job.
func (g *grepRun) finish(ctx context.Context) (more bool, err error) {
	job := g.pending[0]
	for waits := true; waits; {
		select {
		case <-g.tick:
			g.report()
			continue
		case <-job.done:
		case <-ctx.Done():
		}
		waits = false
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	g.pending = g.pending[1:]
	for i, rel := range job.files {
		if more, err := g.take(rel, job.found[i], job.errs[i]); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

func (g *grepRun) work(ctx context.Context) {
	defer g.walk.using.Done()
	s := &scanner{pattern: g.pattern}
	for job := range g.jobs {
		job.found = make([]scanned, len(job.files))
		job.errs = make([]error, len(job.files))
		for i, rel := range job.files {
			if ctx.Err() != nil {
				return
			}
			job.found[i], job.errs[i] = s.file(ctx, g.walk.top, rel, g.want)
			g.searched.Add(1)
		}
		close(job.done)
	}
}

// file searches one file of a walk. A fault of ours, on a goroutine that the
// host does not know, is an error of this file and not the end of the host.
func (s *scanner) file(ctx context.Context, top Dir, rel string, want scanWant) (found scanned, err error) {
	defer func() {
		if p := recover(); p != nil {
			found, err = scanned{}, fmt.Errorf("fault: %v", p)
		}
	}()
	f, err := top.Open(rel)
	if err != nil {
		return scanned{}, err
	}
	defer f.Close()
	return s.run(ctx, f, want)
}
