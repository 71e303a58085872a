package ops

import "github.com/pinfold-dev/pinfold/pathresolver"

// ViewConfig tells a process that serves a view what to serve, and where.
type ViewConfig struct {
	Dir    string
	Config pathresolver.Config
}
