// Package viewhost is what serving a view takes besides the view: the options for this
// user, whoever answers what it asks (in this process, over a pipe, over HTTP), and
// the memory of what is changed in it.
package viewhost
