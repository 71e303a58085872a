package rows

import (
	"time"

	"github.com/go-json-experiment/json"
)

// micros keeps a time as whole microseconds since 1970, the zero time as NULL.
func micros(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	us := t.UnixMicro()
	return &us
}

func fromMicros(us *int64) time.Time {
	if us == nil {
		return time.Time{}
	}
	return time.UnixMicro(*us).UTC()
}

// list keeps a list or a struct as JSON. A nil list is null and no empty one,
// and what is not UTF-8 is an error.
func list(v any) (string, error) {
	data, err := json.Marshal(v, json.FormatNilSliceAsNull(true))
	return string(data), err
}

func fromList(text string, to any) error { return json.Unmarshal([]byte(text), to) }
