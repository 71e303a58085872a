//go:build linux

package launcher

func probe(name string, args []string) int { return 0 }
