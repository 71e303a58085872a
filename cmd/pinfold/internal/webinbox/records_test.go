//go:build linux

package webinbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// look is a search over HTTP.
func (c *caller) look(query string) (f found) {
	c.w.Helper()
	status, answer, _ := c.do(http.MethodGet, "/api/records?"+query, "")
	require.Equal(c.w, http.StatusOK, status, answer)
	require.NoError(c.w, json.Unmarshal([]byte(answer), &f))
	return f
}

// TestSearch: the audit is read newest first, by text, agent and kind, in pages
// (A1).
func TestSearch(t *testing.T) {
	w := newWorld(t)
	w.family()
	c := w.enter()
	all := c.look("")
	require.Len(t, all.Items, int(all.Total))
	require.Zero(t, all.Before)
	require.Equal(t, all.Total, all.Items[0].Seq)
	for query, want := range map[string][]string{
		"q=VERSION.go&kind=":      {"ask docs"},
		"kind=answers":            {"approve root", "deny root"},
		"kind=answers&q=generate": {"deny root"},
		"who=notes-writer":        {"ask notes-writer"},
		"kind=agents&q=reviewer":  {"hire release"},
		"q=nothing+like+this":     nil,
	} {
		var got []string
		for _, r := range c.look(query).Items {
			got = append(got, r.Action+" "+r.Who)
		}
		require.Equal(t, want, got, query)
	}
	for _, r := range c.look("kind=refusals").Items {
		require.NotEqual(t, "allow", r.Effect)
	}
	for _, bad := range []string{"kind=none", "before=x", "before=0", "before=-1"} {
		status, _, _ := c.do(http.MethodGet, "/api/records?"+bad, "")
		require.Equal(t, http.StatusConflict, status, bad)
	}
}

// TestPages: more than one answer holds are found one page after another, each
// once.
func TestPages(t *testing.T) {
	w := newWorld(t)
	worker := w.hire("worker", "")
	for i := range 450 {
		err := w.b.Record(t.Context(), worker, access.Decision{Effect: access.Deny, Code: "outside", Access: access.Access{Action: access.FSWrite, Resource: fmt.Sprintf("place-%03d", i)}})
		require.NoError(t, err)
	}
	c := w.enter()
	seen := map[int64]bool{}
	pages := 0
	for before := int64(0); pages == 0 || before > 0; pages++ {
		query := "q=place-"
		if before > 0 {
			query += fmt.Sprintf("&before=%d", before)
		}
		f := c.look(query)
		for _, r := range f.Items {
			require.False(t, seen[r.Seq])
			seen[r.Seq] = true
		}
		before = f.Before
	}
	require.Len(t, seen, 450)
	require.Equal(t, 3, pages)

	p := w.signedIn()
	p.key("h")
	p.until(`document.querySelectorAll(".record").length === 200`)
	_ = eval[any](p, `document.querySelector(".records ~ button").click()`)
	p.until(`document.querySelectorAll(".record").length === 400`)
	_ = w.ask(worker, "src/a.go", "") // what is new does not push away what is read
	_ = eval[any](p, `document.querySelector(".records ~ button").click()`)
	p.until(`document.querySelectorAll(".record").length > 450`)
	p.pause()
	p.key("/")
	p.until(`document.activeElement.id === "q"`)
	p.press("place-449" + kb.Enter)
	p.until(`document.querySelectorAll(".record").length === 1`)
}

// TestVerify: the page says whether the record is whole (A2).
func TestVerify(t *testing.T) {
	w := newWorld(t)
	w.family()
	p := w.signedIn()
	p.key("h")
	p.do(click(".search button.quiet"))
	head, err := w.b.Head(t.Context(), operator)
	require.NoError(t, err)
	p.shows(fmt.Sprintf("Whole: %d records, head %d:%s", head.Seq, head.Seq, head.Hash))
}

// TestManyRows: lists are cut, and say so.
func TestManyRows(t *testing.T) {
	rows := make([]broker.Request, maxRequests+3)
	l := first(rows, maxRequests, rowOf)
	require.Len(t, l.Items, maxRequests)
	require.Equal(t, 3, l.More)
	require.Equal(t, list[row]{Items: []row{}}, first(nil, 10, rowOf))
}
