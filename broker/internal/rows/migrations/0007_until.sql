-- When an agent's time is over.

ALTER TABLE agents ADD COLUMN until BIGINT;
CREATE INDEX agents_until ON agents (until) WHERE until IS NOT NULL;
