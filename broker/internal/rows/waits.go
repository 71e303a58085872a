package rows

import (
	"github.com/pinfold-dev/pinfold/broker"
)

func waitWhere(f broker.WaitFilter) *where {
	var w where
	w.equal("waits_for", f.For)
	w.equal("agent_id", f.AgentID)
	w.equal("broker_id", f.BrokerID)
	return &w
}

// Waits implements broker.ReadTx.
func (t *Tx) Waits(f broker.WaitFilter) (all []broker.Wait, err error) {
	w := waitWhere(f)
	w.add(" ORDER BY waits_for, broker_id")
	err = t.query("SELECT waits_for, agent_id, on_id, broker_id FROM waits"+w.sql.String(), func(scan Scan) error {
		var v broker.Wait
		err := scan(&v.For, &v.AgentID, &v.OnID, &v.BrokerID)
		all = append(all, v)
		return err
	}, w.args...)
	return all, err
}

// InsertWait implements broker.Tx.
func (t *Tx) InsertWait(v broker.Wait) error {
	return t.insert("INSERT INTO waits (waits_for, agent_id, on_id, broker_id) VALUES ($1, $2, $3, $4)",
		v.For, v.AgentID, v.OnID, v.BrokerID)
}

// DeleteWaits implements broker.Tx.
func (t *Tx) DeleteWaits(f broker.WaitFilter) (int, error) {
	w := waitWhere(f)
	n, err := t.exec("DELETE FROM waits"+w.sql.String(), w.args...)
	return int(n), err
}
