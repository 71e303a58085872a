// Package otelaudit sends the broker's audit to a collector of OpenTelemetry:
// each record is a log record of the OpenTelemetry protocol, over HTTP.
//
//	x, err := otelaudit.New("https://collector.example:4318", otelaudit.Options{})
//	if err != nil {
//		return err
//	}
//	defer x.Close()
//	err = x.Export(ctx, records)
//
// # Guarantees
//
// Export returns nil once the collector has taken every record that it was
// given. A record arrives whole: its number and both hashes are among its
// attributes, so that the chain can be verified where it arrives. What agents
// wrote into a record is a value there, never a name.
//
// # Limits
//
// A record may arrive twice, where an answer of the collector is lost: its
// number tells. The types are those of go.opentelemetry.io/proto/otlp. The SDK's
// own exporters are not used: they hand over in the background and drop what a
// collector does not take in time, which an audit cannot, and they link gRPC
// into each start of the command.
package otelaudit
