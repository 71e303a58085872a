package otelaudit

import (
	"strings"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// eventName is the name of each log record's event; attribute the beginning of
// its attributes' names.
const eventName, attribute = "pinfold.audit", "pinfold.audit."

// scope is the name of what the records come from.
const scope = "github.com/pinfold-dev/pinfold/broker"

// severities are by what was decided. What was refused is worth a look.
var severities = map[access.Effect]logs.SeverityNumber{
	access.Allow: logs.SeverityNumber_SEVERITY_NUMBER_INFO,
	access.Ask:   logs.SeverityNumber_SEVERITY_NUMBER_INFO2,
	access.Deny:  logs.SeverityNumber_SEVERITY_NUMBER_WARN,
}

// encode is records as one message of the protocol. An
// ExportLogsServiceRequest is the same bytes, and would link gRPC.
func encode(records []broker.Record, version string) *logs.LogsData {
	list := make([]*logs.LogRecord, len(records))
	for i := range records {
		list[i] = encodeRecord(&records[i])
	}
	return &logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{
		Resource:  &resource.Resource{Attributes: []*common.KeyValue{text("service.name", "pinfold"), text("service.version", version)}},
		ScopeLogs: []*logs.ScopeLogs{{Scope: &common.InstrumentationScope{Name: scope, Version: version}, LogRecords: list}},
	}}}
}

func encodeRecord(r *broker.Record) *logs.LogRecord {
	out := &logs.LogRecord{
		TimeUnixNano:         uint64(r.Time.UnixNano()),
		ObservedTimeUnixNano: uint64(r.Time.UnixNano()),
		SeverityNumber:       severities[r.Effect],
		SeverityText:         string(r.Effect),
		EventName:            eventName,
		Body:                 textValue(sentence(r)),
		Attributes:           []*common.KeyValue{{Key: attribute + "seq", Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: r.Seq}}}},
	}
	for _, a := range []struct{ name, value string }{
		{"prev", string(r.Prev)}, {"hash", string(r.Hash)}, {"principal", r.Principal}, {"action", r.Action},
		{"resource", r.Resource}, {"tool", r.Tool}, {"effect", string(r.Effect)}, {"code", string(r.Code)},
		{"reason", r.Reason}, {"rule", r.Rule}, {"policy_hash", r.PolicyHash}, {"request_id", r.RequestID},
	} {
		if a.value != "" {
			out.Attributes = append(out.Attributes, text(attribute+a.name, a.value))
		}
	}
	return out
}

// sentence is the record for whoever reads a list of them.
func sentence(r *broker.Record) string {
	who := r.Principal
	if who == "" {
		who = "broker"
	}
	words := []string{who, string(r.Effect), r.Action, r.Resource}
	if r.Code != "" {
		words = append(words, "("+string(r.Code)+")")
	}
	return strings.Join(words, " ")
}

func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: textValue(value)}
}

func textValue(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: s}}
}
