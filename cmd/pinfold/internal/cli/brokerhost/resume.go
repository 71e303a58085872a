package brokerhost

import (
	"errors"
	"fmt"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// resumeAgain is how soon a store that failed is asked again.
const resumeAgain = time.Second

// Resumes starts resumable agents again when a message comes for them, until the
// broker ends (D4). One message starts an agent once: a command that reads no
// mailbox is not started for ever.
func (r *Runner) Resumes(srv *brokerhttp.Server) {
	r.all.Go(func() {
		given := map[string]int64{} // the newest message for which an agent was started
		for {
			a, newest, err := r.b.AwaitResume(r.ctx, func(a broker.Agent, m broker.Message) bool { return m.Seq > given[a.ID] })
			if r.ctx.Err() != nil {
				return
			}
			if err != nil {
				select {
				case <-r.ctx.Done():
					return
				case <-time.After(resumeAgain):
				}
				continue
			}
			given[a.ID] = newest.Seq
			err = srv.Resume(r.ctx, a, a.Resume)
			var refused *broker.Error
			started := err == nil || errors.As(err, &refused) && refused.Code == broker.CodeExists // here or elsewhere
			if !started && r.ctx.Err() == nil {
				r.out.Error(fmt.Sprintf("agent %s was not started again: %v", a.ID, err))
			}
		}
	})
}
