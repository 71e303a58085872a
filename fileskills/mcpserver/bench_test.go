package mcpserver_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// BenchmarkReadOverStdio is one read of 1 KiB, from the line of the request to
// the line of the answer, client included.
func BenchmarkReadOverStdio(b *testing.B) {
	root := b.TempDir()
	if err := os.WriteFile(root+"/a.txt", []byte(strings.Repeat("fifteen letters\n", 64)), 0o600); err != nil {
		b.Fatal(err)
	}
	r, err := pathresolver.New(pathresolver.Config{Root: root})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	set, err := fileskills.New(fileskills.Config{Resolver: r})
	if err != nil {
		b.Fatal(err)
	}
	in, to, _ := os.Pipe()
	from, out, _ := os.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcpserver.New(set, mcpserver.Options{}).ServeStdio(b.Context(), in, out) }()
	answers := bufio.NewReaderSize(from, 1<<16)
	ask := func(line string) {
		if _, err := to.WriteString(line + "\n"); err != nil {
			b.Fatal(err)
		}
		if _, err := answers.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	ask(initialize)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"a.txt"}}}`, i+2))
	}
	_ = to.Close()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}
