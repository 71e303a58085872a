package rows

import (
	"errors"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
)

// Policy implements broker.ReadTx.
func (t *Tx) Policy(hash string) (data []byte, err error) {
	err = t.one("SELECT data FROM policies WHERE hash = $1", func(scan Scan) error { return scan(&data) }, hash)
	return data, err
}

// PutPolicy implements broker.Tx.
func (t *Tx) PutPolicy(hash string, data []byte) error {
	if data == nil {
		data = []byte{}
	}
	err := t.insert("INSERT INTO policies (hash, data) VALUES ($1, $2)", hash, data)
	if errors.Is(err, broker.ErrExists) {
		return nil
	}
	return err
}

// Brokers implements broker.ReadTx.
func (t *Tx) Brokers() (map[string]time.Time, error) {
	all := map[string]time.Time{}
	err := t.query("SELECT id, seen FROM brokers", func(scan Scan) error {
		var id string
		var seen *int64
		err := scan(&id, &seen)
		all[id] = fromMicros(seen)
		return err
	})
	return all, err
}

// PutBroker implements broker.Tx.
func (t *Tx) PutBroker(id string, seen time.Time) error {
	_, err := t.exec("INSERT INTO brokers (id, seen) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET seen = excluded.seen",
		id, micros(seen))
	return err
}

// DeleteBroker implements broker.Tx.
func (t *Tx) DeleteBroker(id string) error {
	if _, err := t.exec("DELETE FROM waits WHERE broker_id = $1", id); err != nil {
		return err
	}
	_, err := t.exec("DELETE FROM brokers WHERE id = $1", id)
	return err
}

// usageColumns are those of scanUsage.
const usageColumns = `owner, kind, bytes, left_out, told, first_at, last_at`

func scanUsage(scan Scan) (u broker.Usage, err error) {
	var first, last *int64
	err = scan(&u.Owner, (*string)(&u.Kind), &u.Bytes, &u.LeftOut, &u.Told, &first, &last)
	u.First, u.Last = fromMicros(first), fromMicros(last)
	return u, err
}

// Usage implements broker.ReadTx.
func (t *Tx) Usage(owner string, kind broker.UsageKind) (broker.Usage, error) {
	u := broker.Usage{Owner: owner, Kind: kind}
	if t.own != nil {
		known, ok := t.own.usages[purse{owner, kind}]
		if !ok {
			known, ok = t.batch.usages[purse{owner, kind}]
		}
		if err := t.fit([]any{owner, string(kind)}); ok || err != nil {
			return known, err
		}
	}
	err := t.query("SELECT "+usageColumns+" FROM usages WHERE owner = $1 AND kind = $2", func(scan Scan) (err error) {
		u, err = scanUsage(scan)
		return err
	}, owner, string(kind))
	if err == nil && t.own != nil {
		t.batch.usages[purse{owner, kind}] = u
	}
	return u, err
}

// LeftOut implements broker.ReadTx.
func (t *Tx) LeftOut() (all []broker.Usage, err error) {
	if err := t.settled(); err != nil {
		return nil, err
	}
	err = t.query("SELECT "+usageColumns+" FROM usages WHERE left_out <> 0 ORDER BY owner, kind", func(scan Scan) error {
		u, err := scanUsage(scan)
		all = append(all, u)
		return err
	})
	return all, err
}

// PutUsage implements broker.Tx.
func (t *Tx) PutUsage(u broker.Usage) error {
	if err := t.changeable(usageStmt(u).Args); err != nil {
		return err
	}
	p := purse{u.Owner, u.Kind}
	t.own.usages[p], t.own.usagesNew[p] = u, true
	return t.put()
}

func usageStmt(u broker.Usage) Stmt {
	return Stmt{"INSERT INTO usages (" + usageColumns + ") VALUES (" + places(7) + ") ON CONFLICT (owner, kind) DO UPDATE SET " +
		"bytes = excluded.bytes, left_out = excluded.left_out, told = excluded.told, first_at = excluded.first_at, last_at = excluded.last_at",
		[]any{u.Owner, string(u.Kind), u.Bytes, u.LeftOut, u.Told, micros(u.First), micros(u.Last)}}
}

// Rate implements broker.ReadTx.
func (t *Tx) Rate(key string) (at time.Time, err error) {
	if t.own != nil {
		if err := t.fit([]any{key}); err != nil {
			return at, err
		}
		if at, ok := t.own.rates[key]; ok {
			return at, nil
		}
		at, ok := t.batch.rates[key]
		if !ok {
			if at, err = t.readRate(key); err != nil {
				return at, err
			}
			if at.Before(t.batch.before) {
				at = time.Time{} // it is to be deleted
			}
			t.batch.rates[key] = at
		}
		if at.Before(t.own.before) {
			at = time.Time{}
		}
		return at, nil
	}
	return t.readRate(key)
}

func (t *Tx) readRate(key string) (at time.Time, err error) {
	err = t.one("SELECT at FROM rates WHERE name = $1", func(scan Scan) error {
		var us *int64
		err := scan(&us)
		at = fromMicros(us)
		return err
	}, key)
	if errors.Is(err, broker.ErrNotFound) {
		err = nil
	}
	return at, err
}

// SetRate implements broker.Tx.
func (t *Tx) SetRate(key string, at time.Time) error {
	if err := t.changeable(rateStmt(key, at).Args); err != nil {
		return err
	}
	t.own.rates[key], t.own.ratesNew[key] = at, true
	return t.put()
}

func rateStmt(key string, at time.Time) Stmt {
	return Stmt{"INSERT INTO rates (name, at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET at = excluded.at", []any{key, micros(at)}}
}

// DeleteRates implements broker.Tx.
func (t *Tx) DeleteRates(before time.Time) error {
	if err := t.changeable(nil); err != nil {
		return err
	}
	t.own.forget(before)
	return t.put()
}
