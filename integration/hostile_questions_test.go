package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

const (
	hostileLoops = 4  // in which one agent asks at once
	othersAsk    = 25 // times meanwhile
)

// hostileQuestion is what an agent asks to keep the broker busy.
type hostileQuestion struct {
	as   string
	ask  func(ctx context.Context, c *brokerhttp.Client) error
	says string // of the refusal; "" is none
}

func hostileQuestions() map[string]hostileQuestion {
	hire := func(text string) func(context.Context, *brokerhttp.Client) error {
		return func(ctx context.Context, c *brokerhttp.Client) error {
			h, err := c.Hire(ctx, brokerhttp.HireBody{Policy: &brokerhttp.Text{Name: "p.yaml", Text: text}})
			if err == nil {
				_, err = c.Fire(ctx, h.Agent.ID)
			}
			return err
		}
	}
	questions := map[string]hostileQuestion{
		"a file pattern of 26 braces": {"hostile", func(ctx context.Context, c *brokerhttp.Client) error {
			_, err := c.CallSkill(ctx, "glob", []byte(`{"pattern": "`+strings.Repeat("{a,aa}", 26)+`z"}`))
			return err
		}, "more than 1000 names"},
		"a file pattern of stars": {"hostile", func(ctx context.Context, c *brokerhttp.Client) error {
			_, err := c.CallSkill(ctx, "glob", []byte(`{"pattern": "`+strings.Repeat("*a", 500)+`z"}`))
			return err
		}, ""},
		"a path, under 10,000 globs": {"globs", func(ctx context.Context, c *brokerhttp.Client) error {
			_, err := c.Decide(ctx, brokerhttp.DecideBody{Action: access.FSRead, Resource: strings.Repeat("s/", 500) + "x"})
			return err
		}, ""},
	}
	for name, p := range hostileProjects() {
		text := p.files["p.yaml"]
		if text == "" || len(text) > 1<<20 { // more than a request may bring
			continue
		}
		_, says, _ := strings.Cut(p.says, "error[")
		questions["a policy: "+name] = hostileQuestion{"hostile", hire(text), strings.TrimSuffix(says, "]")}
	}
	return questions
}

// TestHostileQuestions: while one agent asks what is costly to decide, again and
// again and several at once, the others have their answers. How soon is printed;
// a busy machine is no failure.
func TestHostileQuestions(t *testing.T) {
	p := startBroker(t)
	cwd := t.TempDir()
	for i := range 2000 {
		require.NoError(t, os.WriteFile(filepath.Join(cwd, strings.Repeat("a", 200)+fmt.Sprint(i)), nil, 0o644))
	}
	operator := p.as("")
	for _, h := range []brokerhttp.HireBody{
		{ID: "boss", Preset: "trusted", Cwd: cwd},
		{ID: "worker", Parent: "boss", Policy: &brokerhttp.Text{Name: "p.yaml", Text: askingForSrc}},
		{ID: "hostile", Preset: "trusted", Cwd: cwd},
		{ID: "globs", Parent: "hostile", Policy: &brokerhttp.Text{Name: "p.yaml", Text: hostileProjects()["10,000 globs"].files["p.yaml"]}},
	} {
		_, err := operator.Hire(t.Context(), h)
		require.NoError(t, err)
	}
	boss, worker := p.as("boss"), p.as("worker")
	measure := func() (decided, answered []time.Duration) {
		for i := range othersAsk {
			began := time.Now()
			d, err := worker.Decide(t.Context(), brokerhttp.DecideBody{Action: access.FSWrite, Resource: fmt.Sprint("docs/", i)})
			require.NoError(t, err)
			require.True(t, d.Allowed())
			decided = append(decided, time.Since(began))
			r, err := worker.Ask(t.Context(), askSrc(i))
			require.NoError(t, err)
			_, err = boss.Deny(t.Context(), r.ID, brokerhttp.DenyBody{Reason: "no"})
			require.NoError(t, err)
			answered = append(answered, time.Since(began))
		}
		return decided, answered
	}
	printed := func(name string, asked int, decided, answered []time.Duration) {
		middle := func(v []time.Duration) string {
			slices.Sort(v)
			return fmt.Sprintf("median %v, worst %v", v[len(v)/2].Round(10*time.Microsecond), v[len(v)-1].Round(10*time.Microsecond))
		}
		fmt.Printf("[table] broker beside %s (%d asked): decided %s; decided, asked and answered %s\n", name, asked, middle(decided), middle(answered))
	}
	decided, answered := measure()
	printed("nothing", 0, decided, answered)
	for name, q := range hostileQuestions() {
		var mu sync.Mutex
		var all sync.WaitGroup
		var asked int
		var errs []error
		first := make(chan struct{}, 1)
		ctx, stop := context.WithCancel(t.Context())
		for range hostileLoops {
			c, err := brokerhttp.NewClient(brokerhttp.Endpoint{Socket: brokerhttp.AgentSocket(p.dir, q.as)})
			require.NoError(t, err)
			all.Go(func() {
				defer c.Close()
				for ctx.Err() == nil {
					err := q.ask(t.Context(), c)
					mu.Lock()
					asked++
					errs = append(errs, err)
					mu.Unlock()
					select {
					case first <- struct{}{}:
					default:
					}
				}
			})
		}
		<-first
		decided, answered := measure()
		stop()
		all.Wait()
		printed(name, asked, decided, answered)
		for _, err := range errs {
			var refused *broker.Error
			switch {
			case errors.As(err, &refused) && refused.Code == broker.CodeRateLimited: // its share of a minute is used up
			case q.says == "":
				require.NoError(t, err, name)
			default:
				require.Error(t, err, name)
			}
		}
	}
}
