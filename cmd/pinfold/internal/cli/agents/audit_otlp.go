package agents

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/broker/otelaudit"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
)

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
