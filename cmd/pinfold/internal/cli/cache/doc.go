// Package cache is the command cache: it lists and removes the layers that runs with
// --cache keep over the caches of package managers, and takes over from them to the
// host's caches what a checksum proves.
package cache
