package sandboxfs

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// refusalQueue is how many refusals may wait for OnRefusal.
const refusalQueue = 1024

// refusals hands refusals to the caller's function off the request's path.
type refusals struct {
	queue   chan Refusal
	quit    chan struct{}
	done    chan struct{}
	dropped atomic.Uint64
}

func newRefusals(report func(Refusal)) *refusals {
	r := &refusals{}
	if report == nil {
		return r
	}
	r.queue = make(chan Refusal, refusalQueue)
	r.quit, r.done = make(chan struct{}), make(chan struct{})
	go r.run(report)
	return r
}

func (r *refusals) run(report func(Refusal)) {
	defer close(r.done)
	for {
		select {
		case one := <-r.queue:
			report(one)
		case <-r.quit:
			for {
				select {
				case one := <-r.queue:
					report(one)
				default:
					return
				}
			}
		}
	}
}

// add never blocks: a refused request must not wait for its report.
func (r *refusals) add(one Refusal) {
	if r.queue == nil {
		return
	}
	one.Program = programOf(one.PID)
	select {
	case r.queue <- one:
	default:
		r.dropped.Add(1)
	}
}

// close returns when all that waited has been reported.
func (r *refusals) close() {
	if r.queue != nil {
		close(r.quit)
		<-r.done
	}
}

// programOf reads the name of a process that waits for our answer: later it
// may be gone.
func programOf(pid uint32) string {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(name), "\n")
}
