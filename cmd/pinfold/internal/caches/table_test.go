package caches

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/internal/policies"
)

func TestTable(t *testing.T) {
	require.Equal(t, policies.Caches(), Names(), "what .pinfold.yaml may name")
	for _, c := range Table() {
		require.NotEqual(t, c.Proof == "", c.Unproved == "", c.Name)
		seen := map[string]bool{}
		for _, part := range c.parts() {
			require.False(t, seen[part.ID], "%s has two parts %s", c.Name, part.ID)
			require.Regexp(t, "^[a-z]+$", part.ID)
			seen[part.ID] = true
		}
	}
	_, ok := Find("none")
	require.False(t, ok)
	_, err := PlanFor(ThisHost(), []string{"none"})
	require.Error(t, err)
}

// The directories with secrets of a package manager lie in no part whose content of the
// host is shown.
func TestNoSecretsShown(t *testing.T) {
	home := filepath.FromSlash("/home/me")
	plans, err := PlanFor(Host{home, func(string) (string, bool) { return "", false }}, Names())
	require.NoError(t, err)
	for _, secret := range []string{".npmrc", ".npm/_logs", ".npm/_cacache/index-v5", ".cache/pip/http-v2", ".cache/pip/http",
		".cargo/credentials.toml", ".cargo/credentials", ".cargo/config.toml", ".config/go/env", "go/bin"} {
		for _, plan := range plans {
			for _, part := range plan.Parts {
				if part.Own {
					continue
				}
				rel, err := filepath.Rel(part.Path, filepath.Join(home, filepath.FromSlash(secret)))
				require.NoError(t, err)
				require.False(t, filepath.IsLocal(rel), "%s shows %s", plan.Cache.Name, secret)
			}
		}
	}
	require.Equal(t, []string{"cache/vcs"}, plans[0].Cache.Dirs[0].Parts[0].Hide)
}

func TestPlaces(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // layers are Linux's
	}
	for _, c := range []struct {
		env  map[string]string
		want []string
	}{
		{nil, []string{"GOMODCACHE=/home/me/go/pkg/mod", "GOCACHE=/home/me/.cache/go-build", "npm_config_cache=/home/me/.npm", "PIP_CACHE_DIR=/home/me/.cache/pip", "CARGO_HOME=/home/me/.cargo"}},
		{map[string]string{"GOPATH": "/a:/b", "XDG_CACHE_HOME": "/x", "NPM_CONFIG_CACHE": "/n/", "PIP_CACHE_DIR": "relative", "CARGO_HOME": "/c"},
			[]string{"GOMODCACHE=/a/pkg/mod", "GOCACHE=/x/go-build", "npm_config_cache=/n", "PIP_CACHE_DIR=/x/pip", "CARGO_HOME=/c"}},
		{map[string]string{"GOPATH": "/a", "GOMODCACHE": "/m", "GOCACHE": "off"},
			[]string{"GOMODCACHE=/m", "GOCACHE=/home/me/.cache/go-build", "npm_config_cache=/home/me/.npm", "PIP_CACHE_DIR=/home/me/.cache/pip", "CARGO_HOME=/home/me/.cargo"}},
	} {
		h := Host{"/home/me", func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }}
		plans, err := PlanFor(h, append(Names(), "go"))
		require.NoError(t, err)
		var got []string
		for _, p := range plans {
			got = append(got, p.Env...)
		}
		require.Equal(t, c.want, got)
		h.Home = ""
		if c.env == nil {
			_, err = PlanFor(h, Names())
			require.ErrorContains(t, err, "$GOMODCACHE")
		}
	}
}
