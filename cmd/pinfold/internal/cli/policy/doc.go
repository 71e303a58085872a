// Package policy has the commands that show, format, compare and explain policies, say
// why a path is refused, and translate a policy into flags of other programs.
package policy
