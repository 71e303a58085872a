package launcher

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Nothing that prints values prints a secret, however deep it stands; the helpers get it.
func TestSecretIsNotPrinted(t *testing.T) {
	const value = "S3cr3t-Value"
	p, err := newPlan(Config{Root: "/srv/project", Command: []string{"true"}, Env: []string{"SEEN=" + value},
		Secrets: map[string]Secret{"TOKEN": Secret(value)}, SecretFiles: map[string]Secret{"key": Secret(value), "empty": {}}}, debian())
	require.NoError(t, err)
	require.Contains(t, p.String(), value, "what is no secret is printed")
	require.Contains(t, p.environ(), "TOKEN="+value)

	p.Env = nil
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("plan", "plan", p, "one", p.Secrets["TOKEN"])
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("plan", "plan", p, "one", p.Secrets["TOKEN"])
	marshalled, err := json.Marshal(p)
	require.NoError(t, err)
	step := p.Steps[len(p.Steps)-1]
	for _, s := range p.Steps {
		if s.Path == SecretsDir+"/key" {
			step = s
		}
	}
	require.NotNil(t, step.Secret)
	texts := []string{p.String(), step.String(), logged.String(), string(marshalled)}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts = append(texts, fmt.Sprintf(format, *p), fmt.Sprintf(format, step), fmt.Sprintf(format, p.Secrets))
	}
	raw := []byte(value)
	numbers := strings.Trim(fmt.Sprintf("%d", raw), "[]")
	for _, text := range texts {
		for _, form := range []string{value, fmt.Sprintf("%x", value), numbers, "UzNjcjN0"} {
			assert.NotContains(t, text, form)
		}
	}
	assert.Contains(t, p.String(), "env      TOKEN=(secret)\n")

	var sent bytes.Buffer
	require.NoError(t, gob.NewEncoder(&sent).Encode(*p))
	var got runPlan
	require.NoError(t, gob.NewDecoder(&sent).Decode(&got))
	assert.Equal(t, Secret(value), got.Secrets["TOKEN"])
}

func TestSecretsRefused(t *testing.T) {
	ok := Config{Root: "/srv/project", Command: []string{"true"},
		Secrets: map[string]Secret{"A": Secret("x")}, SecretFiles: map[string]Secret{"A": Secret("x\x00")}}
	_, err := newPlan(ok, debian())
	require.NoError(t, err)
	for name, spoil := range map[string]func(*Config, *hostFacts){
		"NUL":         func(c *Config, _ *hostFacts) { c.Secrets = map[string]Secret{"A": Secret("x\x00")} },
		"in Env":      func(c *Config, _ *hostFacts) { c.Env = []string{"A=y"} },
		"passed":      func(c *Config, _ *hostFacts) { c.Env = []string{"A"} },
		"too much":    func(c *Config, _ *hostFacts) { c.SecretFiles = map[string]Secret{"A": make(Secret, MaxSecrets)} },
		"ro above":    func(_ *Config, h *hostFacts) { h.RO = []hostEntry{{Path: "/run"}} },
		"ro there":    func(_ *Config, h *hostFacts) { h.RO = []hostEntry{{Path: "/run/secrets/x"}} },
		"no file":     func(c *Config, _ *hostFacts) { c.SecretFiles = map[string]Secret{"../A": nil} },
		"no variable": func(c *Config, _ *hostFacts) { c.Secrets = map[string]Secret{"A=B": nil} },
	} {
		c, h := ok, debian()
		spoil(&c, &h)
		_, err := newPlan(c, h)
		var se *SetupError
		assert.True(t, errors.As(err, &se), "%s: %v", name, err)
	}
}

func TestCheckSecretName(t *testing.T) {
	for _, name := range []string{"A", "_", "a1_B", "GH_TOKEN", strings.Repeat("A", 255)} {
		assert.NoError(t, CheckSecretName(name), name)
	}
	for _, name := range []string{"", "1A", "A-B", "A.B", "A/B", "..", "Ä", "A=B", "A B", "A\n", strings.Repeat("A", 256),
		"LD_PRELOAD", "LD_AUDIT", "PINFOLD_SOCKET", "PATH", "HOME", "TMPDIR", "PWD", "SHELL", "TERM"} {
		assert.Error(t, CheckSecretName(name), name)
	}
}
