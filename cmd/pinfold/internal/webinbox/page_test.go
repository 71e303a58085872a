//go:build linux

package webinbox

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

func TestApprove(t *testing.T) {
	w := newWorld(t)
	r := w.ask(w.hire("worker", "write the manual"), "src/a.go", "the version stands there")
	p := w.signedIn()
	p.shows("src/a.go")
	p.shows("the version stands there")
	p.until(`document.querySelector("button.approve")`)
	p.shoot("first")
	_ = eval[any](p, `document.querySelector("button.approve").click()`)
	p.shows("Nothing else waits.")
	require.Equal(t, broker.Approved, w.status(r.ID).Status)
}
