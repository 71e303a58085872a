//go:build !unix

package brokerhttp

func shortName(path string) (string, func(), error) { return path, func() {}, nil }

func privateDir(string) error { return errNoPeers }

func removeStale(string) error { return errNoPeers }

func lockDir(string) (func(), error) { return nil, errNoPeers }
