// Package live is what makes a run a thing that other commands can name: its record in
// pinfold's state, and a socket at which the run's own process obeys the user who started
// it.
//
// Whoever reaches the socket can have everything inside done and more shown, so no agent
// may. It lies in the state directory, which every run, mount and skill covers or hides
// (state.Private); the directory is this user's alone; and each side asks the kernel who
// is at the other end: the same user, and a process that is in no process namespace
// beneath this one's, as those inside a run are. No word of a client is taken for who it is.
package live
