package integration

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// hundredOpens writes a hundred files at once, each in one of four directories,
// and once src/go is there does everything else beside them. What that took is
// in src/took.
func hundredOpens() {
	var opens sync.WaitGroup
	for i := range 100 {
		opens.Go(func() { must(os.WriteFile(secretFile(i), []byte("new"), 0o644)) })
	}
	for {
		if _, err := os.Stat("src/go"); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond) // who started us ends us if it never comes
	}
	var took []time.Duration
	for i := range 100 {
		dir, next := fmt.Sprintf("src/d%d", i%4), fmt.Sprintf("src/d%d", (i+1)%4)
		for _, do := range []func() error{
			func() error { return os.WriteFile(dir+"/a", []byte("x"), 0o644) },
			func() error { _, err := os.Stat(dir + "/a"); return err },
			func() error { return os.Rename(dir+"/a", next+"/b") },
			func() error { return os.Remove(next + "/b") },
			func() error { return os.Mkdir(dir+"/c", 0o755) },
			func() error { return os.Remove(dir + "/c") },
			func() error { _, err := os.ReadFile(secretFile(i)); return err },
			func() error { _, err := os.ReadDir(dir); return err },
		} {
			began := time.Now()
			must(do())
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	must(os.WriteFile("src/took", fmt.Appendf(nil, "median %v, 99 of 100 within %v, slowest %v", took[len(took)/2], took[len(took)*99/100], took[len(took)-1]), 0o644))
	opens.Wait()
}

// secretFile is the i-th of the files.
func secretFile(i int) string { return fmt.Sprintf("src/d%d/secret%d", i%4, i) }
