// Package viewhost is what serving a view takes besides the view: the options for this
// user, who asks a broker for it over the broker's API, and the memory of what is
// changed in it.
package viewhost
