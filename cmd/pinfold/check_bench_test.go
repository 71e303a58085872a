package main

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

// BenchmarkCheckAgents checks 1,000 agent definitions, as a .pinfold.yaml names
// them: the promise is under a second.
func BenchmarkCheckAgents(b *testing.B) {
	dir := b.TempDir()
	files := clitest.Tree{".pinfold.yaml": "version: 1\ncheck: {agents: [\".claude/agents/**/*.md\"]}\n"}
	for i := range 1000 {
		files[fmt.Sprintf(".claude/agents/team-%d/agent-%d.md", i%20, i)] = fmt.Sprintf(
			"---\nname: agent-%d\ndescription: Does one thing, and does it well\ntools: Read, Grep, Bash(git add:*), Edit\nprofile: WRITE\nwrite_paths: [src/a%d, docs]\ncolor: blue\n---\nYou are an agent.\n", i, i)
	}
	files.Make(b, dir)
	for b.Loop() {
		var out bytes.Buffer
		require.Equal(b, cli.ExitOK, execute(context.Background(), []string{"check", "-C", dir}, nil, &out, &out), out.String())
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/definition")
}
