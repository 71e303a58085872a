//go:build !linux

package skills

import "github.com/pinfold-dev/pinfold/pathresolver"

// confineServer does nothing: other systems have no Landlock.
func confineServer(*pathresolver.Resolver, string) error { return nil }
