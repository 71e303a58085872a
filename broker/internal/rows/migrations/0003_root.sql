-- The operator is called root, everywhere. Records are as they were written.

UPDATE messages SET recipient_id = 'root' WHERE recipient_id = 'operator';
UPDATE messages SET sender_id = 'root' WHERE sender_id = 'operator';
UPDATE requests SET resolver = 'root' WHERE resolver = 'operator';
