package broker

import "sync"

// hub wakes whoever waits for a topic. A wake-up says only that it is worth
// looking again.
type hub struct {
	mu       sync.Mutex
	watchers map[string]map[chan struct{}]struct{}
}

// anyTopic is watched by those who want to know of every change.
const anyTopic = "*"

// watch returns a channel that holds one wake-up, whichever of the topics it
// came for and however many came.
func (h *hub) watch(topics ...string) (wake <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == nil {
		h.watchers = map[string]map[chan struct{}]struct{}{}
	}
	for _, topic := range topics {
		if h.watchers[topic] == nil {
			h.watchers[topic] = map[chan struct{}]struct{}{}
		}
		h.watchers[topic][ch] = struct{}{}
	}
	return ch, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, topic := range topics {
			delete(h.watchers[topic], ch)
			if len(h.watchers[topic]) == 0 {
				delete(h.watchers, topic)
			}
		}
	}
}

// wake wakes those who watch a topic; "" is every topic.
func (h *hub) wake(topic string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if topic != "" {
		wakeAll(h.watchers[topic])
		wakeAll(h.watchers[anyTopic])
		return
	}
	for _, set := range h.watchers {
		wakeAll(set)
	}
}

func wakeAll(set map[chan struct{}]struct{}) {
	for ch := range set {
		select {
		case ch <- struct{}{}:
		default: // it has one already
		}
	}
}

// The topics of transactions.
func requestTopic(id string) string { return "request:" + id }
func agentTopic(id string) string   { return "agent:" + id }   // its row, its children', its mailbox and inbox
func mailboxTopic(id string) string { return "mailbox:" + id } // or "root"
