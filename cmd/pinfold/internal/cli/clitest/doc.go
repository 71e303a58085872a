// Package clitest is what the tests of several commands share.
package clitest
