package permission

import (
	"context"
	"fmt"
	"testing"

	"github.com/pinfold-dev/pinfold/access"
)

// manyRules is a policy of n rules, as a large repository would have them:
// half are paths, the rest names, endings and globs.
func manyRules(b testing.TB, n int) *Policy {
	doc := Document{Version: 1, Extends: "sandboxed", FS: &FS{Write: []string{}, Hide: []string{}, Protect: []string{}, AskWrite: []string{}}}
	for i := range n {
		switch i % 10 {
		case 0, 1, 2, 3:
			doc.FS.Write = append(doc.FS.Write, fmt.Sprintf("services/s%d/src", i))
		case 4:
			doc.FS.AskWrite = append(doc.FS.AskWrite, fmt.Sprintf("services/s%d/deploy", i))
		case 5:
			doc.FS.Hide = append(doc.FS.Hide, fmt.Sprintf("**/.secret%d", i))
		case 6:
			doc.FS.Hide = append(doc.FS.Hide, fmt.Sprintf("**/*.key%d", i))
		case 7:
			doc.FS.Protect = append(doc.FS.Protect, fmt.Sprintf("services/s%d/*.lock", i))
		case 8:
			doc.FS.Hide = append(doc.FS.Hide, fmt.Sprintf("services/s%d/**/private", i))
		case 9:
			doc.FS.Protect = append(doc.FS.Protect, fmt.Sprintf("LICENSES/l%d.txt", i))
		}
	}
	src, err := FromDocument("p.yaml", doc)
	if err != nil {
		b.Fatal(err)
	}
	p, err := Compile(src, Options{})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

var benchRequests = []struct {
	name string
	access.Request
}{
	{"read", access.Request{Action: access.FSRead, Resource: "services/s0/src/internal/handler/user_handler.go"}},
	{"write", access.Request{Action: access.FSWrite, Resource: "services/s0/src/internal/handler/user_handler.go", Tool: "edit_file"}},
	{"refused", access.Request{Action: access.FSWrite, Resource: "Makefile"}},
	{"upper", access.Request{Action: access.FSWrite, Resource: "services/s0/src/README.md"}},
	{"send", access.Request{Principal: "me", Action: access.MsgSend, Resource: "root", Tool: "nexus_send"}},
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{0, 10, 1_000, 100_000} {
		p := manyRules(b, n)
		for _, r := range benchRequests {
			b.Run(fmt.Sprintf("rules=%d/%s", n, r.name), func(b *testing.B) {
				b.ReportAllocs()
				e := Enforcer{p, family{"me": "root"}}
				for b.Loop() {
					e.Check(context.Background(), r.Request)
				}
			})
		}
	}
}

// Check allocates nothing, whatever the number of rules.
func TestCheckAllocatesNothing(t *testing.T) {
	e := Enforcer{manyRules(t, 1000), family{"me": "root"}}
	for _, r := range benchRequests {
		if n := testing.AllocsPerRun(100, func() { e.Check(context.Background(), r.Request) }); n != 0 {
			t.Errorf("%s: %v allocations", r.name, n)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		manyRules(b, 1000)
	}
}
