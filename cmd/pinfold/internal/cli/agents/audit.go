package agents

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/broker/otelaudit"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
)

// NewAudit is the command audit.
func NewAudit(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read the broker's record of decisions, and prove that it is whole",
		Args:  cli.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAuditVerify(a), newAuditExport(a), newAuditFollow(a))
	return cmd
}

func newAuditVerify(a *cli.App) *cobra.Command {
	var head string
	var run auditRun
	cmd := &cobra.Command{
		Use:   "verify [flags]",
		Short: "Look for records that were changed, removed or moved",
		Long: `verify recomputes the chain of hashes. A chain that was cut or written anew as a
whole looks whole by itself: --head, from an earlier verify, shows that. What agents
have tried beyond what is kept of them has no record of its own: verify says how
much that is.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run.withAudit(cmd, a, func(ctx context.Context, c *brokerhttp.Client, _ bool) error {
				v, err := c.AuditVerify(ctx, head)
				if err != nil {
					return err
				}
				if brokerclient.AsJSON(cmd) {
					err = cli.WriteJSON(a.Out.Stdout, v)
				} else if v.OK {
					a.Out.Stdout.Printf("ok: %d records, head %d:%s\n", v.Head.Seq, v.Head.Seq, v.Head.Hash)
					for _, left := range v.LeftOut {
						a.Out.Stdout.Printf("left out: %s\n", left)
					}
				}
				switch {
				case err != nil || v.OK:
					return err
				case brokerclient.AsJSON(cmd):
					return cli.Silent(cli.ExitFailed)
				}
				return errors.New(v.Problem)
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	cmd.Flags().StringVar(&head, "head", "", "a `HEAD` that verify printed before: its record must be there still")
	run.add(cmd)
	return cmd
}

func newAuditExport(a *cli.App) *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:   "export [flags]",
		Short: "Print the records as JSON lines, oldest first, or send them to a collector",
		Long: `export prints every record as a line of JSON. With --otlp it sends them, as logs of
the OpenTelemetry protocol over HTTP, and says up to which one the collector has
taken them: the next --after.

` + otlpHelp,
		Example: "  pinfold audit export > audit.jsonl\n  pinfold audit export --otlp http://localhost:4318",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return sendRecords(a, cmd, f, false)
		},
	}
	f.add(cmd)
	return cmd
}

func newAuditFollow(a *cli.App) *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:   "follow [flags]",
		Short: "Print or send the records, and go on as they are written",
		Long: `follow is export, and goes on with what is recorded meanwhile, until Ctrl-C;
of a run that has ended, with --run, until the end of what is there.

` + otlpHelp,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return sendRecords(a, cmd, f, true)
		},
	}
	f.add(cmd)
	return cmd
}

// printRecord prints a record. A reader that went away ends it, as a pipe ends a
// program.
func printRecord(a *cli.App, r broker.Record) error {
	err := cli.EncodeJSON(a.Out.Stdout, r, "")
	if errors.Is(err, syscall.EPIPE) {
		return cli.Silent(cli.ExitSignal + int(syscall.SIGPIPE))
	}
	return err
}

// otlpHeaders holds what a collector wants beside the records, as its key:
// NAME=VALUE, joined by commas, escaped as in a URL. The name and the form are
// OpenTelemetry's; a flag would show the key to whoever lists processes.
const otlpHeaders = "OTEL_EXPORTER_OTLP_HEADERS"

const otlpHelp = `Headers for the collector, such as its key, are taken from ` + otlpHeaders + `.`

// recordFlags are those of the commands that hand records on. They are JSON
// lines whether or not --json is there.
type recordFlags struct {
	after int64
	otlp  string
	run   auditRun
}

func (f *recordFlags) add(cmd *cobra.Command) {
	brokerclient.JSONFlag(cmd)
	cmd.Flags().Int64Var(&f.after, "after", 0, "begin after the record with this `NUMBER`")
	cmd.Flags().StringVar(&f.otlp, "otlp", "", "send the records to the OpenTelemetry collector at `URL` (without a path: /v1/logs)")
	f.run.add(cmd)
}

// sendRecords prints records, or sends them to a collector.
func sendRecords(a *cli.App, cmd *cobra.Command, f recordFlags, follow bool) error {
	if f.otlp == "" {
		return f.run.withAudit(cmd, a, func(ctx context.Context, c *brokerhttp.Client, grows bool) error {
			return c.Audit(ctx, f.after, follow && grows, func(r broker.Record) error { return printRecord(a, r) })
		})
	}
	header, err := headersOf(os.Getenv(otlpHeaders))
	if err != nil {
		return err
	}
	x, err := otelaudit.New(f.otlp, otelaudit.Options{Header: header, Version: cli.BuildVersion()})
	if err != nil {
		return cli.UsageError(err, cli.SeeHelp(cmd))
	}
	defer x.Close()
	sent, last := 0, f.after
	err = f.run.withAudit(cmd, a, func(ctx context.Context, c *brokerhttp.Client, grows bool) error {
		return c.AuditPages(ctx, f.after, follow && grows, func(page []broker.Record) error {
			if err := x.Export(ctx, page); err != nil {
				return err
			}
			sent, last = sent+len(page), page[len(page)-1].Seq
			return nil
		})
	})
	a.Out.Stdout.Printf("sent %d records, up to number %d\n", sent, last)
	return err
}

// headersOf reads NAME=VALUE,... No value is in its errors.
func headersOf(text string) (http.Header, error) {
	header := http.Header{}
	for i, pair := range strings.Split(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !found || name == "" || err != nil || strings.ContainsAny(value, "\r\n") {
			return nil, fmt.Errorf("%s: entry %d is no NAME=VALUE, escaped as in a URL", otlpHeaders, i+1)
		}
		header.Set(name, value)
	}
	return header, nil
}
