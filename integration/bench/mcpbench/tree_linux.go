package mcpbench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// What the tree holds.
const (
	smallFile  = "small.txt"  // 1 KiB
	editedFile = "edited.txt" // 1 KiB, edited back and forth
	bigFile    = "big.txt"    // 10 MiB
	forest     = "forest"     // many small files
	rareEnding = ".rare"      // of ten names in forest
	rareText   = "needle_in_a_haystack"

	headLines   = 2000
	filesPerDir = 100
	oldWord     = "first_word"
	newWord     = "other_word"
)

// growTree makes it in dir.
func growTree(dir string, files int) error {
	line := strings.Repeat("word ", 9) + "end of the line\n"
	small := strings.Repeat(line, 1+1024/len(line))[:1008]
	for name, data := range map[string]string{
		smallFile:  small,
		editedFile: oldWord + "\n" + small,
		bigFile:    strings.Repeat(line, 10<<20/len(line)),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			return err
		}
	}
	body := bytes.Repeat([]byte(line), 16)
	for i := range files {
		parent := filepath.Join(dir, forest, fmt.Sprintf("d%03d", i/filesPerDir))
		if i%filesPerDir == 0 {
			if err := os.MkdirAll(parent, 0o755); err != nil {
				return err
			}
		}
		name, data := fmt.Sprintf("f%02d.txt", i%filesPerDir), body
		if i%(files/10) == 0 {
			name, data = fmt.Sprintf("f%02d%s", i%filesPerDir, rareEnding), append(bytes.Clone(body), rareText...)
		}
		if err := os.WriteFile(filepath.Join(parent, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
