package broker

import (
	"sync"

	"github.com/pinfold-dev/pinfold/permission"
)

// policies are compiled policies by what they were compiled from, which never
// changes.
type policies struct {
	mu  sync.Mutex
	all map[string]*permission.Policy
}

// get returns the policy under a key, or compiles it.
func (c *policies) get(key string, compile func() (*permission.Policy, error)) (*permission.Policy, error) {
	c.mu.Lock()
	p := c.all[key]
	c.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := compile()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil || len(c.all) >= policyCache {
		c.all = map[string]*permission.Policy{}
	}
	c.all[key] = p
	return p, nil
}
