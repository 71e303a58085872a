package runs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/live"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewLogs is the command logs.
func NewLogs(a *cli.App) *cobra.Command {
	var follow, asJSON bool
	cmd := operators(&cobra.Command{
		Use:   "logs [flags] RUN",
		Short: "Show what was started in a run, what was refused so far, and what it left",
		Long: `logs shows the lines that 'pinfold run --report' writes, of a run that goes on or of one
of the latest 100 that have ended: launches, refusals (at most 10,000), and what was left:
4 MiB in all.
What the command itself printed is not kept. In a run with no terminal and neither
--report nor --fail-on-deny, what the kernel refuses outside of every write path is not
noticed.`,
		Example: `  pinfold logs build
  pinfold logs --follow --json build | jq -r .path`,
		Args:              oneRun,
		ValidArgsFunction: complete(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := live.Find(args[0])
			if err != nil {
				return err
			}
			f, err := r.Report()
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }() // was only read
			stop := make(chan os.Signal, 1)
			signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
			defer signal.Stop(stop)
			p := logPrinter{o: a.Out, asJSON: asJSON, root: string(r.Root)}
			in := bufio.NewReader(f)
			for {
				over := !follow || !r.GoesOn()
				if err := p.all(in); err != nil {
					return err
				}
				if over {
					break
				}
				select {
				case <-stop:
					return cli.Silent(cli.ExitSignal + int(syscall.SIGINT))
				case <-time.After(followEvery):
				}
			}
			if now, err := r.Again(); err == nil && !asJSON {
				p.end(&now)
			}
			return nil
		},
	})
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what comes, until the run ends")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the lines as they are (docs/schema/report.schema.json)")
	return cmd
}

// followEvery is how often --follow looks.
const followEvery = 200 * time.Millisecond

// logPrinter prints lines of a report.
type logPrinter struct {
	o       *cli.Output
	asJSON  bool
	root    string
	part    string // of a line whose end was not written yet
	refused int
}

// logLine is any line of a report.
type logLine struct {
	Time   string `json:"time"`
	Launch *struct {
		Program string   `json:"program"`
		Policy  string   `json:"policy"`
		Hash    string   `json:"hash"`
		Sandbox bool     `json:"sandbox"`
		Secrets []string `json:"secrets"`
		Sockets []string `json:"sockets"`
		Devices []string `json:"devices"`
	} `json:"launch"`
	Left *struct {
		Kind string `json:"kind"`
		Path string `json:"path"`
	} `json:"left"`
	Ended *struct {
		Reason string `json:"reason"`
	} `json:"ended"`
	Changed   *live.Change `json:"changed"`
	Operation string       `json:"operation"`
	Path      string       `json:"path"`
	Rule      string       `json:"rule"`
	Origin    string       `json:"origin"`
	Program   string       `json:"program"`
	Connect   *connection  `json:"connect"`
	Shut      *struct {
		Path    string `json:"path"`
		Program string `json:"program"`
	} `json:"network_closed"`
	Unjudged uint64 `json:"unjudged"`
	Omitted  uint64 `json:"omitted"`
}

// connection is one that a run made, or was refused.
type connection struct {
	Host     string `json:"host"`
	Port     uint16 `json:"port"`
	Refused  string `json:"refused"`
	Failed   string `json:"failed"`
	Inbound  bool   `json:"inbound"`
	Sent     int64  `json:"sent"`
	Received int64  `json:"received"`
}

func (p *logPrinter) connection(c *connection) (text string) {
	esc, dim := pathresolver.EscapePath, func(s string) string { return p.o.Stdout.Paint(cli.ColourDim, s) }
	at := esc(c.Host)
	if c.Port != 0 {
		at = esc(net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))))
	}
	switch {
	case c.Refused != "":
		return fmt.Sprintf("refused  connect %s  %s", at, dim(esc(c.Refused)))
	case c.Failed != "":
		return fmt.Sprintf("failed   connect %s  %s", at, dim(esc(c.Failed)))
	case c.Inbound:
		return fmt.Sprintf("reached  port %d inside  %s", c.Port, dim(fmt.Sprintf("%d bytes in, %d out", c.Sent, c.Received)))
	}
	return fmt.Sprintf("connected  %s  %s", at, dim(fmt.Sprintf("%d bytes out, %d in", c.Sent, c.Received)))
}

// all prints what is there.
func (p *logPrinter) all(in *bufio.Reader) error {
	for {
		text, err := in.ReadString('\n')
		p.part += text
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p.line(p.part)
		p.part = ""
	}
}

func (p *logPrinter) line(text string) {
	var l logLine
	if json.Unmarshal([]byte(text), &l) != nil {
		return // of another version
	}
	if l.Operation != "" || l.Connect != nil && l.Connect.Refused != "" {
		p.refused++
	}
	if p.asJSON {
		p.o.Stdout.Printf("%s", text)
		return
	}
	esc := pathresolver.EscapePath
	at := l.Time
	if t, err := time.Parse(time.RFC3339Nano, l.Time); err == nil {
		at = t.Local().Format("15:04:05")
	}
	say := func(format string, args ...any) {
		p.o.Stdout.Printf("%s  "+format+"\n", append([]any{esc(at)}, args...)...)
	}
	switch {
	case l.Launch != nil:
		held := l.Launch.Policy + "  " + cli.ShortHash(l.Launch.Hash)
		if !l.Launch.Sandbox {
			held = "no sandbox  " + held
		}
		for _, of := range []struct {
			what string
			list []string
		}{{"secrets", l.Launch.Secrets}, {"sockets", l.Launch.Sockets}, {"devices", l.Launch.Devices}} {
			if len(of.list) > 0 {
				held += "  with " + of.what + " " + strings.Join(of.list, " ")
			}
		}
		say("started  %s  %s", esc(l.Launch.Program), p.o.Stdout.Paint(cli.ColourDim, esc(strings.TrimSpace(held))))
	case l.Left != nil:
		say("left     %s  %s", p.within(l.Left.Path), esc(l.Left.Kind))
	case l.Ended != nil:
		say("%s", esc(l.Ended.Reason))
	case l.Changed != nil && len(l.Changed.Write) > 0:
		say("allowed  write  %s", esc(strings.Join(cli.Convert[string](l.Changed.Write), " ")))
	case l.Changed != nil:
		say("hidden   %s", esc(strings.Join(cli.Convert[string](l.Changed.Hide), " ")))
	case l.Operation != "":
		say("refused  %-6s %s  %s", esc(l.Operation), p.within(l.Path),
			p.o.Stdout.Paint(cli.ColourDim, esc(strings.TrimSpace(l.Rule+"  "+pathresolver.OriginText(l.Origin)+"  by "+l.Program))))
	case l.Shut != nil:
		say("closed   the network  %s", p.o.Stdout.Paint(cli.ColourDim, "at the first use of "+esc(l.Shut.Path)+"  by "+esc(l.Shut.Program)))
	case l.Connect != nil:
		say("%s", p.connection(l.Connect))
	case l.Unjudged > 0:
		say("%d attempts or more came too fast to be judged", l.Unjudged)
	case l.Omitted > 0:
		say("%d more were not noted", l.Omitted)
	}
}

// within is a path as the operator would type it in the project.
func (p *logPrinter) within(path string) string {
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(p.root, "/")+"/"); ok {
		path = rest
	}
	return pathresolver.EscapePath(path)
}

func (p *logPrinter) end(r *live.Record) {
	text := cli.Plural(p.refused, "operation") + " refused"
	switch {
	case r.Ended != "":
		p.o.Stdout.Printf("%s; ended with exit code %d\n", text, r.Code)
	case r.GoesOn():
		p.o.Stdout.Printf("%s so far\n", text)
	default:
		p.o.Stdout.Printf("%s; the run was killed\n", text)
	}
}
