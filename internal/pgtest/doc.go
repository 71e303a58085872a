// Package pgtest gives tests a real PostgreSQL.
//
// A package whose tests need one says so once,
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
//
// and each test asks for an empty schema of its own:
//
//	dsn := pgtest.Database(t)
//
// The first call starts a server of this test binary's own, on a Unix socket in
// a temporary directory, with fsync as in production and no TCP. A shell beside
// the test owns it: it holds a pipe to the test and, when that closes, however
// the test ended, it kills the server and removes the directory.
//
// PostgreSQL refuses to run as root. As root the server runs as the user
// postgres, or nobody where there is no such user; otherwise as the caller.
package pgtest
