-- Times are microseconds since 1970 in UTC, NULL for none. Lists are JSON, null
-- for none. {text} orders by bytes on both databases; {bytes} is any bytes.

CREATE TABLE agents (
	id          {text} PRIMARY KEY,
	parent_id   {text} NOT NULL,
	session     {text} NOT NULL UNIQUE,
	cwd         {text} NOT NULL,
	model       {text} NOT NULL,
	tools       {text} NOT NULL,
	task        {text} NOT NULL,
	policy_hash {text} NOT NULL,
	route       {text} NOT NULL,
	resume      {text} NOT NULL,
	cross_send  {text} NOT NULL,
	state       {text} NOT NULL,
	turn        BIGINT NOT NULL,
	interrupts  BIGINT NOT NULL,
	process     {text} NOT NULL,
	cause       {text} NOT NULL,
	token_hash  {text} NOT NULL,
	created_at  BIGINT,
	ended_at    BIGINT,
	exit_code   BIGINT NOT NULL,
	exit_signal {text} NOT NULL,
	exit_output {text} NOT NULL
);
CREATE INDEX agents_parent ON agents (parent_id, id);
CREATE UNIQUE INDEX agents_token ON agents (token_hash) WHERE token_hash <> '';

CREATE TABLE requests (
	id          {text} PRIMARY KEY,
	agent_id    {text} NOT NULL,
	approver_id {text} NOT NULL,
	action      {text} NOT NULL,
	resource    {text} NOT NULL,
	also        {text} NOT NULL,
	tool        {text} NOT NULL,
	input       {text} NOT NULL,
	reason      {text} NOT NULL,
	digest      {text} NOT NULL,
	status      {text} NOT NULL,
	code        {text} NOT NULL,
	deny_reason {text} NOT NULL,
	scope       {text} NOT NULL,
	until       BIGINT,
	deadline    BIGINT,
	resolver    {text} NOT NULL,
	created_at  BIGINT,
	resolved_at BIGINT
);
CREATE INDEX requests_agent ON requests (agent_id, status, id);
CREATE INDEX requests_approver ON requests (approver_id, status, id);
CREATE INDEX requests_status ON requests (status, id);
CREATE UNIQUE INDEX requests_pending ON requests (agent_id, digest) WHERE status = 'pending';
CREATE INDEX requests_deadline ON requests (deadline) WHERE status = 'pending';
CREATE INDEX requests_until ON requests (until) WHERE status = 'active';

CREATE TABLE messages (
	id           {text} PRIMARY KEY,
	seq          BIGINT NOT NULL UNIQUE,
	recipient_id {text} NOT NULL,
	sender_id    {text} NOT NULL,
	type         {text} NOT NULL,
	verb         {text} NOT NULL,
	content      {text} NOT NULL,
	reply_to     {text} NOT NULL,
	event_key    {text} NOT NULL,
	chain        {text} NOT NULL,
	created_at   BIGINT,
	delivered_at BIGINT,
	acked_at     BIGINT
);
CREATE INDEX messages_mailbox ON messages (recipient_id, seq);
CREATE INDEX messages_undelivered ON messages (recipient_id, seq) WHERE delivered_at IS NULL;
CREATE INDEX messages_unacked ON messages (recipient_id, seq) WHERE acked_at IS NULL;
CREATE INDEX messages_sender ON messages (sender_id, seq);
CREATE UNIQUE INDEX messages_event ON messages (event_key) WHERE event_key <> '';
CREATE UNIQUE INDEX messages_answer ON messages (reply_to) WHERE reply_to <> '';

CREATE TABLE records (
	seq         BIGINT PRIMARY KEY,
	prev        {text} NOT NULL,
	hash        {text} NOT NULL,
	at          BIGINT,
	principal   {text} NOT NULL,
	action      {text} NOT NULL,
	resource    {text} NOT NULL,
	tool        {text} NOT NULL,
	effect      {text} NOT NULL,
	code        {text} NOT NULL,
	reason      {text} NOT NULL,
	rule        {text} NOT NULL,
	policy_hash {text} NOT NULL,
	request_id  {text} NOT NULL
);
CREATE INDEX records_principal ON records (principal, seq);
CREATE INDEX records_at ON records (at);

CREATE TABLE head (seq BIGINT NOT NULL, hash {text} NOT NULL);
INSERT INTO head (seq, hash) VALUES (0, '');

CREATE TABLE counters (name {text} PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO counters (name, value) VALUES ('message', 0);

CREATE TABLE policies (hash {text} PRIMARY KEY, data {bytes} NOT NULL);

CREATE TABLE waits (
	waits_for {text} NOT NULL,
	agent_id  {text} NOT NULL,
	on_id     {text} NOT NULL,
	broker_id {text} NOT NULL,
	PRIMARY KEY (waits_for, broker_id)
);
CREATE INDEX waits_agent ON waits (agent_id);
CREATE INDEX waits_broker ON waits (broker_id);

CREATE TABLE brokers (id {text} PRIMARY KEY, seen BIGINT);

CREATE TABLE rates (name {text} PRIMARY KEY, at BIGINT);
CREATE INDEX rates_at ON rates (at);
