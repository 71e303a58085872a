// Package viewhost is what serving a view takes besides the view: the options for this
// user, whoever answers what it asks (a broker in this process, or one in another over
// its API), and the memory of what is changed in it.
package viewhost
