// Package cli is what all commands of pinfold share: the App that each is given,
// the rules of output (output.go), the exit codes (exitcode.go), the errors of a
// wrong call (args.go), and the commands about pinfold itself.
//
// The commands lie in the folders beneath it, by what a user does: run, mount,
// leftlog, check, policy, agents, approvals, skills. What two of them need lies in
// a folder by what it is: policyflag (flags that describe a policy), hostfile,
// state, inside, gitbeside, viewhost, skillask, brokerclient, brokerhost, child,
// localnet.
package cli
