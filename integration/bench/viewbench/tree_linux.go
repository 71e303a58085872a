package viewbench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/integration/bench/worker"
)

// GrowTree makes the tree in dir, which exists and is empty. Everybody may
// read it; the write directory is empty but for the large file.
func GrowTree(dir string, s worker.Scale) error {
	if err := write(filepath.Join(dir, worker.GitConfigFile), []byte(worker.GitConfig)); err != nil {
		return err
	}
	for i := range parts {
		if err := write(filepath.Join(dir, fmt.Sprintf(worker.PartsDir+"/p%03d/file", i)), nil); err != nil {
			return err
		}
	}
	for _, grow := range []func(string, worker.Scale) error{growSmall, growForest, growFlat, growLarge, growModule, growRepo, growTar} {
		if err := grow(dir, s); err != nil {
			return fmt.Errorf("make the tree: %w", err)
		}
	}
	return os.WriteFile(filepath.Join(dir, worker.ProbeFile), nil, 0o644)
}

// source is a file as a program has them; i makes it differ from the others.
func source(i int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "package p\n\n// F%d adds up.\n", i)
	for k := range 5 + i%40 {
		fmt.Fprintf(&b, "func f%d_%d(a, b int) int { return a*%d + b }\n", i, k, i+k)
	}
	return b.Bytes()
}

func growSmall(dir string, s worker.Scale) error {
	for i := range s.Small {
		if err := write(filepath.Join(dir, worker.SmallFile(i)), source(i)); err != nil {
			return err
		}
	}
	return nil
}

func growForest(dir string, s worker.Scale) error {
	for i := range s.Forest {
		name := fmt.Sprintf("t%03d/leaf%02d", i/worker.FilesPerDir, i%worker.FilesPerDir)
		if err := write(filepath.Join(dir, worker.ForestDir, name), nil); err != nil {
			return err
		}
	}
	return nil
}

func growFlat(dir string, s worker.Scale) error {
	for i := range s.Flat {
		if err := write(filepath.Join(dir, worker.FlatDir, fmt.Sprintf("name-%06d", i)), nil); err != nil {
			return err
		}
	}
	return nil
}

func growLarge(dir string, s worker.Scale) error {
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i * 7)
	}
	return write(filepath.Join(dir, worker.LargeFile), bytes.Repeat(block, s.Large))
}

// growModule makes packages that import nothing.
func growModule(dir string, s worker.Scale) error {
	top := filepath.Join(dir, worker.ModuleDir)
	if err := write(filepath.Join(top, "go.mod"), []byte("module example.org/bench\n\ngo 1.24\n")); err != nil {
		return err
	}
	for i := range s.Packages {
		for k := range 5 {
			if err := write(filepath.Join(top, fmt.Sprintf("p%d/f%d.go", i, k)), source(i*5+k)); err != nil {
				return err
			}
		}
	}
	return nil
}

// growTar packs the repository's files.
func growTar(dir string, _ worker.Scale) error {
	return run(dir, dir, "tar", "cf", worker.TarFile, "--exclude=.git", worker.RepoDir)
}

func write(name string, data []byte) error {
	err := os.WriteFile(name, data, 0o644)
	if os.IsNotExist(err) {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		err = os.WriteFile(name, data, 0o644)
	}
	return err
}

// run runs a command in dir; top is the tree.
func run(top, dir string, argv ...string) error {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = append(c.Environ(), worker.GitEnv(top)...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w: %.300s", argv, err, out)
	}
	return nil
}
