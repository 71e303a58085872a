package otelaudit

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/pinfold-dev/pinfold/broker"
)

const (
	// batch is how many records one request holds.
	batch = 512
	// sendTime bounds one request.
	sendTime = 30 * time.Second
	// maxReply bounds what is read of an answer, maxSaid what is repeated of it.
	maxReply, maxSaid = 64 << 10, 200
	// logsPath is where a collector takes logs, unless the URL says a path.
	logsPath = "/v1/logs"
)

// Options say how an Exporter sends.
type Options struct {
	Header  http.Header // sent with each request, such as what a collector wants for a key
	Version string      // of the program, as service.version
	// Tries is how often a batch is sent that a collector cannot take now; 0 is 5.
	Tries int
	// Pause is how long the first pause between tries is, where the collector
	// does not say; each is twice the last. 0 is a second.
	Pause time.Duration
}

// Exporter sends records to one collector. It is safe for use by many
// goroutines.
type Exporter struct {
	http *http.Client
	to   string
	opt  Options
}

// New makes an exporter to a collector's URL. Without a path it is /v1/logs.
// Nothing is sent yet.
func New(endpoint string, opt Options) (*Exporter, error) {
	u, err := url.Parse(endpoint)
	if err == nil && u.User != nil {
		return nil, errors.New("the collector's URL holds a password: send it as a header")
	}
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the collector's URL %q is none: want http://HOST:PORT or https://HOST:PORT", endpoint)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = logsPath
	}
	if opt.Tries <= 0 {
		opt.Tries = 5
	}
	if opt.Pause <= 0 {
		opt.Pause = time.Second
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return &Exporter{to: u.String(), opt: opt, http: &http.Client{
		Transport: transport, Timeout: sendTime,
		// The records and the headers are for that collector and for no other.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close closes connections that are not in use.
func (x *Exporter) Close() { x.http.CloseIdleConnections() }

// Export sends records in their order. It returns once all of them were taken,
// or with an error that says which were not known to be.
func (x *Exporter) Export(ctx context.Context, records []broker.Record) error {
	for len(records) > 0 {
		n := min(len(records), batch)
		if err := x.deliver(ctx, records[:n]); err != nil {
			return fmt.Errorf("records %d to %d: %w", records[0].Seq, records[n-1].Seq, err)
		}
		records = records[n:]
	}
	return nil
}

// retryError is a refusal that may pass.
type retryError struct {
	error
	after time.Duration // that the collector asked for; 0 for none
}

// deliver sends one batch until it is taken, or refused for good.
func (x *Exporter) deliver(ctx context.Context, records []broker.Record) error {
	body, err := compress(records, x.opt.Version)
	if err != nil {
		return err
	}
	pause := x.opt.Pause
	for try := 1; ; try++ {
		err := x.post(ctx, body)
		var again *retryError
		if err == nil || !errors.As(err, &again) || try == x.opt.Tries {
			return err
		}
		select {
		case <-time.After(max(pause, again.after)):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
		pause *= 2
	}
}

func compress(records []broker.Record, version string) ([]byte, error) {
	data, err := proto.Marshal(encode(records, version))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(data); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (x *Exporter) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, values := range x.opt.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("User-Agent", "pinfold/"+x.opt.Version)
	resp, err := x.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &retryError{error: err}
	}
	defer func() { _ = resp.Body.Close() }()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	switch {
	case resp.StatusCode == http.StatusOK && err == nil:
		return partial(reply)
	case resp.StatusCode == http.StatusOK:
		return &retryError{error: err}
	}
	err = fmt.Errorf("the collector says %s%s", resp.Status, said(resp, reply))
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // a date is none: then it is the usual pause
		return &retryError{err, min(time.Duration(max(seconds, 0))*time.Second, sendTime)}
	}
	return err
}

// said is what an answer in words says, cut and quoted.
func said(resp *http.Response, reply []byte) string {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") || len(reply) == 0 {
		return ""
	}
	return fmt.Sprintf(": %.*q", maxSaid, strings.TrimSpace(string(reply[:min(len(reply), maxSaid)])))
}

// partial reads an ExportLogsServiceResponse: a collector may take the request
// and refuse records of it.
func partial(reply []byte) error {
	inner, _ := field(reply, 1)
	_, rejected := field(inner, 1)
	if rejected == 0 {
		return nil
	}
	why, _ := field(inner, 2)
	return fmt.Errorf("the collector refused %d of them: %.*q", rejected, maxSaid, string(why[:min(len(why), maxSaid)]))
}

// field is the value of a field of a message: bytes, or a number.
func field(message []byte, want protowire.Number) (value []byte, number uint64) {
	for len(message) > 0 {
		num, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, 0
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(num, kind, message); n < 0 {
			return nil, 0
		}
		if num == want {
			switch kind {
			case protowire.BytesType:
				value, _ = protowire.ConsumeBytes(message)
			case protowire.VarintType:
				number, _ = protowire.ConsumeVarint(message)
			}
		}
		message = message[n:]
	}
	return value, number
}
