// Package caches keeps layers over the caches of package managers: a run sees the host's
// cache with a private, writable layer over it, which the next run of the same project
// finds again. What a run wrote there stays in the layer; Promote takes over to the
// host's cache what a checksum proves, and nothing else.
//
// A layer is of one user, one project and one cache. It lies in a directory that no run
// shows. Whoever uses a layer, or removes or promotes from it, holds a lock on its
// directory (flock), so that no two do at once.
package caches
