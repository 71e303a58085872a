package clitest

import (
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
	"github.com/pinfold-dev/pinfold/internal/trusted"
)

// SomeLeft is one thing of each kind.
func SomeLeft() (items []leftover.Item) {
	for _, kind := range leftover.Kinds() {
		items = append(items, leftover.Item{Kind: kind, Path: "/project/" + Hostile, Leads: "/" + Hostile, Program: "make", When: trusted.WhenBuild, Detail: Hostile})
	}
	return items
}
