// Package httpguard has what all of pinfold's HTTP servers share: which requests
// they answer (Guard), how many connections they hold (Limit), and an end that
// does not wait for a client that says nothing (Server).
//
// Who the client is, each server finds out for itself, after the Guard: by a
// token, a cookie, or the socket.
package httpguard
