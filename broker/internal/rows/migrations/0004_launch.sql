-- How the command of an agent is started, in words of whoever runs it.

ALTER TABLE agents ADD COLUMN launch {text} NOT NULL DEFAULT '';
