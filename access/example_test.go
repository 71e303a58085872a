package access_test

import (
	"context"
	"fmt"

	"github.com/pinfold-dev/pinfold/access"
)

// quota allows a number of writes.
type quota struct{ left int }

func (q *quota) Check(_ context.Context, r access.Request) access.Decision {
	d := access.Decision{Access: access.Access{Action: r.Action, Resource: r.Resource}, Effect: access.Allow}
	if r.Action != access.FSWrite {
		return d
	}
	if q.left--; q.left < 0 {
		return d.Refused("quota", "the agent has used up its writes")
	}
	return d
}

// Whatever answers a request is a Checker: a policy, a broker, or this.
func ExampleChecker() {
	var c access.Checker = &quota{left: 1}
	for range 2 {
		d := c.Check(context.Background(), access.Request{Action: access.FSWrite, Resource: "src/a.go"})
		fmt.Printf("%s %q\n", d.Effect, d.Reason())
	}
	// Output:
	// allow ""
	// deny "the agent has used up its writes"
}
