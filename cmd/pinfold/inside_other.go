//go:build !linux

package main

func readOnlyMount(string) bool { return false }
