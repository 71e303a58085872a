-- PostgreSQL's brokers count their commits, so that each knows whether another has changed
-- anything. A broker of an older version that still runs does not count: it reads this
-- column with every agent, and so stops at it instead.

INSERT INTO counters (name, value) VALUES ('commit', 0);
ALTER TABLE agents RENAME COLUMN turn TO turns;
