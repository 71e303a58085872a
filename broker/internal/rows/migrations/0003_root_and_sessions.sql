-- The operator is called root, everywhere. Records are as they were written.

UPDATE messages SET recipient_id = 'root' WHERE recipient_id = 'operator';
UPDATE messages SET sender_id = 'root' WHERE sender_id = 'operator';
UPDATE requests SET resolver = 'root' WHERE resolver = 'operator';

-- The sessions of an agent beside its first, and the one that a message was sent to.

ALTER TABLE agents ADD COLUMN sessions {text} NOT NULL DEFAULT 'null';
ALTER TABLE messages ADD COLUMN session {text} NOT NULL DEFAULT '';
