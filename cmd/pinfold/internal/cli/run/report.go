package run

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/gitbeside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// reportLine is one line of --report, as docs/schema/report.schema.json
// describes it.
type reportLine struct {
	Time      string      `json:"time"`
	PID       uint32      `json:"pid"`
	UID       uint32      `json:"uid"`
	Program   string      `json:"program"`
	Operation access.Op   `json:"operation"`
	Path      string      `json:"path"`
	Rule      access.Code `json:"rule"`
	Pattern   string      `json:"pattern,omitempty"`
	Origin    string      `json:"origin,omitempty"`
	Errno     string      `json:"errno,omitempty"`
	Request   string      `json:"request,omitempty"`
}

// unjudgedLine is the last line of --report where attempts came too fast.
type unjudgedLine struct {
	Time     string `json:"time"`
	Unjudged uint64 `json:"unjudged"`
}

func newReportLine(root string, r sandboxfs.Refusal) reportLine {
	esc := pathresolver.EscapePath
	at := r.Place
	if !filepath.IsAbs(at) { // it lies in the project
		at = filepath.Join(root, at)
	}
	return reportLine{
		Time:      cli.TimeText(r.Time),
		PID:       r.PID,
		UID:       r.UID,
		Program:   esc(r.Program),
		Operation: r.Op,
		Path:      esc(at),
		Rule:      r.Rule,
		Pattern:   esc(r.Pattern),
		Origin:    esc(r.Origin),
		Errno:     errnoName(r.Errno),
		Request:   r.Syscall,
	}
}

// reportFile appends lines to a file, each by one write, so that what was
// refused before a crash is in it.
type reportFile struct {
	f       *os.File
	root    string
	kept    bool   // for 'pinfold logs': nobody asked for it
	lines   int    // refusals that were written
	bytes   int    // that were written
	omitted uint64 // and that were not, or things that were left
	err     error  // the first that occurred
}

// maxReportLines bounds what one run's refusals add to a report: some 30 MB.
// Beyond it they are counted.
const maxReportLines = 100_000

// maxLogLines and maxLogBytes are the same for what is kept of each of the latest runs. A
// command chooses the names that it is refused, and each of them may be long.
const (
	maxLogLines = 10_000
	maxLogBytes = 4 << 20
)

// omittedLine is the last line of --report where it does not name everything.
type omittedLine struct {
	Time    string `json:"time"`
	Omitted uint64 `json:"omitted"`
}

// openReport opens the file for appending. It must not lie where the command
// could rewrite it.
func openReport(name string, r *pathresolver.Resolver, git *gitbeside.Dir) (*reportFile, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil && git.Holds(dir) {
		return nil, reportWritable(name)
	}
	// Once before, so that a refused file is not made: neither in a write path,
	// nor by a link in one, which an earlier command may have left to lead out.
	if resolved.Explain(r, access.OpCreate, abs).Allowed || resolved.Explain(r, access.OpDelete, abs).Allowed {
		return nil, reportWritable(name)
	}
	f, err := hostfile.Open("--report", name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	// And for good: where the file really lies is asked of the descriptor.
	at, err := pathOf(f)
	if err == nil && (git.Holds(at) || resolved.Explain(r, access.OpWrite, at).Allowed) {
		_ = f.Close()
		return nil, reportWritable(name)
	}
	return &reportFile{f: f, root: r.Root()}, nil
}

func reportWritable(name string) error {
	return cli.UsageError(fmt.Errorf("report %q lies beneath a write path: the command could rewrite it", name),
		"name a file outside of every write path")
}

func (w *reportFile) add(r sandboxfs.Refusal) {
	if w.takes() {
		w.append(newReportLine(w.root, r))
	}
}

// takes counts a line, and reports whether there is room for it.
func (w *reportFile) takes() bool {
	if w.lines == maxReportLines || w.kept && w.lines == maxLogLines || w.full() {
		w.omitted++
		return false
	}
	w.lines++
	return true
}

// full reports whether nothing more is kept.
func (w *reportFile) full() bool { return w.kept && w.bytes >= maxLogBytes }

// unjudged notes how many attempts, at least, came too fast to be judged.
func (w *reportFile) unjudged(n uint64) {
	w.append(unjudgedLine{Time: cli.TimeText(time.Now()), Unjudged: n})
}

func (w *reportFile) append(value any) {
	line, err := json.Marshal(value)
	if err == nil {
		var n int
		n, err = w.f.Write(append(line, '\n'))
		w.bytes += n
	}
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("report: %w", err)
	}
}

func (w *reportFile) close() error {
	if w.omitted > 0 {
		w.append(omittedLine{cli.TimeText(time.Now()), w.omitted})
	}
	if err := w.f.Close(); err != nil && w.err == nil {
		w.err = fmt.Errorf("report: %w", err)
	}
	return w.err
}

// launched is what is told of a launch: which policy it got, so that
// what an agent did can later be set beside what it was allowed then.
type launched struct {
	Policy  string `json:"policy,omitempty"` // the innermost document's name; "" where flags alone describe it
	Hash    string `json:"hash,omitempty"`   // of the policy, or of what policyFile shows; "" where nothing is held
	Program string `json:"program"`
	Sandbox bool   `json:"sandbox"`

	Secrets []string       `json:"secrets,omitempty"` // their names
	Sockets []string       `json:"sockets,omitempty"` // of the host, as --socket names them
	Devices []cli.PathText `json:"devices,omitempty"` // of the host
}

// launchLine is the first line that a launch adds to --report.
type launchLine struct {
	Time   string   `json:"time"`
	Launch launched `json:"launch"`
}

// describeLaunch describes the launch of a program under these flags; shown is the
// content of PolicyFile.
func describeLaunch(p *policyflag.Flags, program string, shown []byte) launched {
	l := launched{Program: pathresolver.EscapePath(program), Sandbox: true}
	if p.Held != nil {
		l.Policy, l.Hash = p.Held.Name(), p.Held.Hash()
		return l
	}
	sum := sha256.Sum256(shown)
	l.Hash = hex.EncodeToString(sum[:])
	return l
}

// env is what the command is told of it.
func (l launched) env() []string {
	return []string{"PINFOLD_POLICY=" + l.Policy, "PINFOLD_POLICY_HASH=" + l.Hash}
}

// launched writes the first line of the report, if one is wanted.
func (c *refused) launched(l launched) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := launchLine{cli.TimeText(time.Now()), l}
	for _, file := range c.files {
		file.append(line)
	}
}
