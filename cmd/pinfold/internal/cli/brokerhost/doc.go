// Package brokerhost is what a process that serves a broker does besides: it opens the
// store, starts the commands of hired agents in their views, calls skills for them,
// and shows the web page.
package brokerhost
