package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// waits: one for each broker, gone with it.
func waits(t *testing.T, open Open) {
	s := opened(t, open)
	a := broker.Wait{For: "r1", AgentID: "a", OnID: "b", BrokerID: "one"}
	other := broker.Wait{For: "r1", AgentID: "a", OnID: "", BrokerID: "two"}
	c := broker.Wait{For: "r2", AgentID: "c", OnID: "a", BrokerID: "one"}
	update(t, s, func(tx broker.Tx) {
		for _, w := range []broker.Wait{a, other, c} {
			require.NoError(t, tx.InsertWait(w))
			require.ErrorIs(t, tx.InsertWait(w), broker.ErrExists)
		}
		require.NoError(t, tx.PutBroker("one", now))
		require.NoError(t, tx.PutBroker("one", now.Add(time.Second)))
		require.NoError(t, tx.PutBroker("two", now))
	})
	for _, tt := range []struct {
		f    broker.WaitFilter
		want []broker.Wait
	}{
		{broker.WaitFilter{}, []broker.Wait{a, other, c}},
		{broker.WaitFilter{For: "r1"}, []broker.Wait{a, other}},
		{broker.WaitFilter{AgentID: "c"}, []broker.Wait{c}},
		{broker.WaitFilter{BrokerID: "two", For: "r1"}, []broker.Wait{other}},
	} {
		view(t, s, func(tx broker.ReadTx) {
			got, err := tx.Waits(tt.f)
			require.NoError(t, err)
			require.Equal(t, tt.want, got, "%+v", tt.f)
		})
	}
	view(t, s, func(tx broker.ReadTx) {
		seen, err := tx.Brokers()
		require.NoError(t, err)
		require.Equal(t, map[string]time.Time{"one": now.Add(time.Second), "two": now}, seen)
	})
	update(t, s, func(tx broker.Tx) {
		require.NoError(t, tx.DeleteBroker("one"))
		left, err := tx.Waits(broker.WaitFilter{})
		require.NoError(t, err)
		require.Equal(t, []broker.Wait{other}, left)
		seen, err := tx.Brokers()
		require.NoError(t, err)
		require.Equal(t, map[string]time.Time{"two": now}, seen)
		n, err := tx.DeleteWaits(broker.WaitFilter{AgentID: "c"})
		require.NoError(t, err)
		require.Zero(t, n)
		n, err = tx.DeleteWaits(broker.WaitFilter{For: "r1", BrokerID: "two"})
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

func policies(t *testing.T, open Open) {
	s := opened(t, open)
	data := []byte("a policy \x00\xff\n")
	update(t, s, func(tx broker.Tx) {
		require.NoError(t, tx.PutPolicy("hash", data))
		require.NoError(t, tx.PutPolicy("hash", []byte("another")))
		require.NoError(t, tx.PutPolicy("empty", nil))

		at, err := tx.Rate("a>b")
		require.NoError(t, err)
		require.Zero(t, at)
		require.NoError(t, tx.SetRate("a>b", now))
		require.NoError(t, tx.SetRate("a>b", now.Add(time.Second)))
		require.NoError(t, tx.SetRate("old", now))
		require.NoError(t, tx.DeleteRates(now.Add(time.Second)))
	})
	view(t, s, func(tx broker.ReadTx) {
		got, err := tx.Policy("hash")
		require.NoError(t, err)
		require.Equal(t, data, got, "what is there already stays")
		got, err = tx.Policy("empty")
		require.NoError(t, err)
		require.Empty(t, got)
		_, err = tx.Policy("none")
		require.ErrorIs(t, err, broker.ErrNotFound)

		at, err := tx.Rate("a>b")
		require.NoError(t, err)
		require.Equal(t, now.Add(time.Second), at, "not before the time that is forgotten")
		at, err = tx.Rate("old")
		require.NoError(t, err)
		require.Zero(t, at)
	})
}

// usages: one for each owner and kind, which comes back as it was put.
func usages(t *testing.T, open Open) {
	s := opened(t, open)
	u := broker.Usage{Owner: "a", Kind: broker.UsageRefused, Bytes: 1 << 40, LeftOut: 3, Told: 2, First: now, Last: now.Add(time.Second)}
	other := broker.Usage{Owner: "a/", Kind: broker.UsageAllowed, LeftOut: 1 << 40}
	nobody := broker.Usage{Kind: broker.UsageRefused, LeftOut: 1}
	update(t, s, func(tx broker.Tx) {
		for _, put := range []broker.Usage{{Owner: "a", Kind: broker.UsageRefused, Bytes: 7}, u, other, nobody, {Owner: "a", Kind: broker.UsageRows, Bytes: 7}} {
			require.NoError(t, tx.PutUsage(put))
			got, err := tx.Usage(put.Owner, put.Kind)
			require.NoError(t, err)
			require.Equal(t, put, got)
		}
	})
	view(t, s, func(tx broker.ReadTx) {
		got, err := tx.Usage("b", broker.UsageRows)
		require.NoError(t, err)
		require.Equal(t, broker.Usage{Owner: "b", Kind: broker.UsageRows}, got)
		left, err := tx.LeftOut()
		require.NoError(t, err)
		require.Equal(t, []broker.Usage{nobody, u, other}, left, "by owner and kind")
	})
}

// text: any that is UTF-8 without NUL comes back as it was, and is never SQL;
// all other is refused in both databases, and nothing has happened.
func text(t *testing.T, open Open) {
	s := opened(t, open)
	for i, content := range []string{
		"", " ", "'; DROP TABLE messages; --", `\`, "\r\n\t\x01\x1b[31m\x7f", "$1 ? :a @b %s", "\u202e\ufeff\ufffd", "🦊",
		"e\u0301 and é", strings.Repeat("é", 1<<19),
	} {
		update(t, s, func(tx broker.Tx) {
			short := content[:min(len(content), 100)]
			m := message(id("m%d", i), short)
			m.Content, m.Chain = content, []string{content, content}
			_, err := tx.InsertMessage(m)
			require.NoError(t, err)
			got, err := tx.Message(m.ID)
			require.NoError(t, err)
			require.Equal(t, content, got.Content)
			require.Equal(t, m.Chain, got.Chain)
			found, err := tx.Messages(broker.MessageFilter{RecipientID: short, Limit: 1})
			require.NoError(t, err)
			require.Equal(t, content, found[0].Content)
		})
	}
	for _, content := range []string{"\x00", "a\x00b", "\xff", "a\xc3"} {
		err := s.Update(t.Context(), func(tx broker.Tx) error {
			_, err := tx.InsertMessage(message("before", "a"))
			require.NoError(t, err)
			m := message("bad", "a")
			m.Content = content
			_, err = tx.InsertMessage(m)
			return err
		})
		require.ErrorContains(t, err, "UTF-8 without NUL", "%q", content)
		lists := message("bad", "a")
		lists.Chain = []string{content}
		if content[0] != 0 && content != "a\x00b" {
			require.Error(t, s.Update(t.Context(), func(tx broker.Tx) error {
				_, err := tx.InsertMessage(lists)
				return err
			}), "%q", content)
		}
		view(t, s, func(tx broker.ReadTx) {
			_, err := tx.Message("before")
			require.ErrorIs(t, err, broker.ErrNotFound)
			_, err = tx.Agent(content)
			require.Error(t, err)
		})
	}
}
