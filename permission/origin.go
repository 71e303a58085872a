package permission

// Origin names the rule that decided and where it stands, as Held's
// Config.Origins does: "worker-docs:fs.write (policy.yaml:3:6)". It is "" where
// no rule spoke.
func (d Decision) Origin() string {
	if d.Rule == "" {
		return ""
	}
	return originText(d.Rule, d.Source)
}

// Cause is Reason without where the rule stands, for who shows Origin apart.
func (d Decision) Cause() string { return d.reason() }

func originText(rule string, at Position) string { return rule + " (" + at.String() + ")" }
