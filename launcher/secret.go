package launcher

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// Secret is a value for the command that nothing prints: whatever fmt, log/slog, text and
// JSON make of one is secretText. Only gob passes the bytes on, to the helpers.
type Secret []byte

const secretText = "(secret)"

// Format writes secretText for every verb.
func (Secret) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, secretText) }

// String is secretText.
func (Secret) String() string { return secretText }

// MarshalText is secretText.
func (Secret) MarshalText() ([]byte, error) { return []byte(secretText), nil }

// SecretsDir holds Config.SecretFiles inside.
const SecretsDir = "/run/secrets"

// MaxSecrets is how many bytes all secrets of a run have together, at most. It is less than
// setUpSize and maxSealed.
const MaxSecrets = 8 << 20

// CheckSecretName refuses what is no name for a secret: other than letters, digits and _,
// and what would change how programs start, or what pinfold says by itself.
func CheckSecretName(name string) error {
	for i, c := range name {
		letter := c == '_' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
		if digit := '0' <= c && c <= '9'; !letter && (i == 0 || !digit) {
			return fmt.Errorf("%q is no name for a secret: it has letters, digits and _, and does not begin with a digit", name)
		}
	}
	switch {
	case name == "" || len(name) > 255:
		return errors.New("the name of a secret has 1 to 255 bytes")
	case strings.HasPrefix(name, "LD_"):
		return fmt.Errorf("%q is the dynamic linker's, which loads programs by it", name)
	case strings.HasPrefix(name, "PINFOLD_"), slices.Contains(allowedEnv, name), slices.Contains([]string{"HOME", "TMPDIR", "PWD"}, name):
		return fmt.Errorf("%q is set by pinfold itself", name)
	}
	return nil
}

// checkSecrets refuses what cannot be a variable or a file, and what is said twice.
func checkSecrets(c Config, host hostFacts) error {
	fail := func(err error) error { return &SetupError{Step: "pass secrets on", Err: err} }
	total := 0
	for _, list := range []map[string]Secret{c.Secrets, c.SecretFiles} {
		for name, value := range list {
			if err := CheckSecretName(name); err != nil {
				return fail(err)
			}
			total += len(value)
		}
	}
	for name, value := range c.Secrets {
		if bytes.IndexByte(value, 0) >= 0 {
			return fail(fmt.Errorf("%s: a variable holds no NUL byte", name))
		}
		if passes(c.Env, name) {
			return fail(fmt.Errorf("%s is set as another variable, too", name))
		}
	}
	if total > MaxSecrets {
		return fail(fmt.Errorf("%d bytes, and at most %d are passed on", total, MaxSecrets))
	}
	if len(c.SecretFiles) == 0 {
		return nil
	}
	for _, ro := range host.RO {
		if beneath(ro.Path, SecretsDir) || beneath(SecretsDir, ro.Path) {
			return &SetupError{Step: "show --ro", Err: fmt.Errorf("%q is where secrets are shown", ro.Path), Fix: "name what is needed in it"}
		}
	}
	return nil
}

// secrets shows files in a directory of their own, which lies in memory and is the
// command's alone.
func (b *builder) secrets(files map[string]Secret) {
	if len(files) == 0 {
		return
	}
	b.dir(path.Dir(SecretsDir))
	b.dir(SecretsDir)
	b.add(planStep{Do: doTmpfs, Path: SecretsDir, Mode: 0o500, Owned: true, NoExec: true, Size: setUpSize})
	b.seals = append(b.seals, SecretsDir)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b.add(planStep{Do: doFile, Path: path.Join(SecretsDir, name), Mode: 0o400, Owned: true, Secret: files[name]})
	}
}

// environ is what the command gets, with its secrets: for nothing but an exec.
func (p *runPlan) environ() []string {
	env := slices.Clone(p.Env)
	for _, name := range slices.Sorted(maps.Keys(p.Secrets)) {
		env = append(env, name+"="+string(p.Secrets[name]))
	}
	return env
}
