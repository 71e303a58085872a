//go:build !linux

package inside

func readOnlyMount(string) bool { return false }
