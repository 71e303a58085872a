// Package localnet reads the addresses of flags: none that other machines reach,
// unless that was asked for.
package localnet
