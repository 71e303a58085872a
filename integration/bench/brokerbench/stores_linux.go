package brokerbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/pgstore"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
	"github.com/pinfold-dev/pinfold/internal/pgtest"
	"github.com/pinfold-dev/pinfold/permission"
)

// The columns.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// Scale is how full the brokers are.
type Scale struct {
	Agents, Messages, Pending int
}

// Full is what the figures are about; Quick shows that it runs.
func Full() Scale { return Scale{Agents: 10_000, Messages: 100_000, Pending: 1000} }

// Quick is Full in small.
func Quick() Scale { return Scale{Agents: 100, Messages: 400, Pending: 10} }

// operator is who hires.
var operator = broker.OperatorIdentity()

// agentDoc may send to anybody, and has to ask for src.
const agentDoc = "version: 1\nextends: trusted\nfs: {ask_write: [src]}\ncross_send: {mode: bypass}\n"

// site is two brokers on one database.
type site struct {
	one, two *broker.Broker
	store    broker.Store // of one of them
	ends     []func() error
}

// openSite opens a column in dir.
func openSite(ctx context.Context, column, dir string) (s *site, err error) {
	s = &site{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	var open func() (broker.Store, error)
	switch column {
	case SQLite:
		path := filepath.Join(dir, "broker.db")
		open = func() (broker.Store, error) { return sqlitestore.Open(ctx, path) }
	case Postgres:
		dsn, stop, err := pgtest.Serve(dir)
		if err != nil {
			return s, err
		}
		s.ends = append(s.ends, stop)
		open = func() (broker.Store, error) { return pgstore.Open(ctx, dsn) }
	}
	for _, b := range []**broker.Broker{&s.one, &s.two} {
		store, err := open()
		if err != nil {
			return s, err
		}
		s.store = store
		s.ends = append(s.ends, store.Close)
		most := 1 << 30
		if *b, err = broker.New(ctx, broker.Options{Store: store, Keep: 1 << 50, Rates: broker.Rates{PairPerMinute: most, SenderPerMinute: most, Burst: most}}); err != nil {
			return s, err
		}
		end := *b
		s.ends = append(s.ends, func() error { end.Close(); return nil })
	}
	return s, nil
}

// close ends what was opened, the last first.
func (s *site) close() (err error) {
	for i := len(s.ends) - 1; i >= 0; i-- {
		err = errors.Join(err, s.ends[i]())
	}
	s.ends = nil
	return err
}

// agentID is the name of agent n.
func agentID(n int) string { return fmt.Sprintf("w%05d", n) }

func agent(n int) broker.Identity { return broker.AgentIdentity(agentID(n)) }

// team is how many agents have one manager.
const team = 100

// managerID is the name of agent n's manager, who approves what it asks for.
func managerID(n int) string { return fmt.Sprintf("m%03d", n/team) }

// managerDoc may do what agents ask for.
const managerDoc = "version: 1\nextends: trusted\ncross_send: {mode: bypass}\n"

// compiled is compiled once for all.
func compiled(doc string) (*permission.Policy, error) {
	src, err := permission.Decode("agent.yaml", []byte(doc))
	if err != nil {
		return nil, err
	}
	return permission.Compile(src, permission.Options{Root: os.TempDir()})
}
