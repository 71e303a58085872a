-- What the agents have made the broker keep, and what was left out for want of room.

CREATE TABLE usages (
	owner    {text} NOT NULL,
	kind     {text} NOT NULL,
	bytes    BIGINT NOT NULL,
	left_out BIGINT NOT NULL,
	told     BIGINT NOT NULL,
	first_at BIGINT,
	last_at  BIGINT,
	PRIMARY KEY (owner, kind)
);
