-- An agent that has ended, and has nobody beneath it who has not, is archived: what looks
-- at those that are there does not read it.

ALTER TABLE agents ADD COLUMN archived BIGINT NOT NULL DEFAULT 0;
UPDATE agents SET archived = 1 WHERE state = 'fired' OR state = 'exited' AND resume = 'null'
	AND NOT EXISTS (SELECT 1 FROM agents AS child WHERE child.parent_id = agents.id AND child.state <> 'fired');
DROP INDEX agents_parent;
CREATE INDEX agents_parent ON agents (parent_id, archived, state, id);
CREATE INDEX agents_state ON agents (state, id);
CREATE INDEX agents_ended ON agents (parent_id, ended_at) WHERE archived = 1;
CREATE INDEX agents_process ON agents (id) WHERE process <> '';
CREATE INDEX agents_resume ON agents (id) WHERE state = 'exited' AND resume <> 'null';
