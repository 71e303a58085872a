// Package network tries to get out of a run by the network.
//
// Its tests run in namespaces of their own, whose loopback has addresses of the
// internet, of private networks and of a cloud's metadata: what listens there is the
// world, and hears what gets out.
package network
