// Package project is what a project's .pinfold.yaml is written and trusted by: init and
// trust.
package project
