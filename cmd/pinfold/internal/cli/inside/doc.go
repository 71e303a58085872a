// Package inside knows the policy of the run that this process is in: what a run
// shows of it (ShowPolicy), and how it is read there (Policy).
package inside
