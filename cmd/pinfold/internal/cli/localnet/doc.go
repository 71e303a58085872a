// Package localnet reads the addresses that flags give. Unless it was asked for, none
// can be reached by other machines.
package localnet
