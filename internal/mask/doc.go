// Package mask shows a file of settings with its values replaced: keys, layout and length
// stay, and each value becomes a stand-in of as many bytes.
//
//	shown, err := mask.File(key, "config/.env", data)
//
// # Guarantees
//
// The result is as long as the file. Every byte of it is a byte of a stand-in, or belongs
// to what this package knows to be a key or layout. Whoever has a secret as a key, or as
// the name of a section, shows it. JSON's true, false and null stay as they are. A file of
// which one byte is not understood is refused as a whole: the error is an *UnclearError.
//
// Equal values have equal stand-ins under one key, in every format. A stand-in of a value
// of four or more bytes shares no four bytes in a row with it.
//
// Formats are told by the name, but for PEM, which is told by its first line: .env and
// .env.*, *.env; *.ini, *.cfg, *.conf, .pypirc, credentials; .npmrc; *.properties; *.json;
// *.yaml, *.yml; *.toml.
package mask
