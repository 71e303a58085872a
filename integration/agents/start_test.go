package agents

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/agents/model"
)

// BenchmarkStart is how long an agent takes by its word, beside native: to say its
// version, and for a session of one call. Each round has one of each in turn, and what
// is reported are the medians in milliseconds.
//
//	go test ./integration/agents -run '^$' -bench Start -benchtime 15x
func BenchmarkStart(b *testing.B) {
	for _, a := range all {
		for _, what := range []struct {
			name string
			args []string
			says string
		}{
			{"version", []string{"--version"}, "."},
			{"session", append(slices.Clone(a.args), task), model.Farewell},
		} {
			b.Run(a.name+"/"+what.name, func(b *testing.B) {
				w := newWorld(b, users()[len(users())-1])
				m := a.model(b, a.tools.read(w.project+"/src/greet.txt"))
				both := []way{ways[0], word}
				took := make([][]time.Duration, len(both))
				for round := range b.N + 1 { // the first one fills caches, and does not count
					for i, by := range both {
						cmd := w.started(a, by, w.settle(b, a, by, m), what.args...)
						began := time.Now()
						out, err := cmd.CombinedOutput()
						lasted := time.Since(began)
						require.NoError(b, err, "%s", out)
						require.True(b, strings.Contains(string(out), what.says), "%s", out)
						if round > 0 {
							took[i] = append(took[i], lasted)
						}
					}
				}
				median := func(of []time.Duration) float64 {
					slices.Sort(of)
					return float64(of[len(of)/2].Microseconds()) / 1000
				}
				native, inside := median(took[0]), median(took[1])
				b.ReportMetric(0, "ns/op") // of both ways together: it says nothing
				b.ReportMetric(native, "native-ms")
				b.ReportMetric(inside, "inside-ms")
				b.ReportMetric(inside-native, "more-ms")
			})
		}
	}
}
