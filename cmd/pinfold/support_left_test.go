package main

import (
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// someLeft is one thing of each kind.
func someLeft() (items []leftover.Item) {
	for _, kind := range leftover.Kinds() {
		items = append(items, leftover.Item{Kind: kind, Path: "/project/" + hostile, Leads: "/" + hostile, Program: "make", When: pathresolver.WhenBuild, Detail: hostile})
	}
	return items
}
