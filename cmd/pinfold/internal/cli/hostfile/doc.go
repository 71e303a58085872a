// Package hostfile opens files of the host that flags and projects name. A link that
// an earlier run may have planted is not followed (Open, Refuse), what a project
// holds is read within it (Project), and what pinfold keeps for itself is hidden
// from every run (HidePrivate).
package hostfile
