package launcher

import (
	"os"
	"path/filepath"
	"strings"
)

// maxProcessorMasks bounds how many files are covered, since each takes a mount. A
// machine with very many processors shows root none of them.
const maxProcessorMasks = 256

// lookAtMachine finds which of machinePlaces there are, and for root what in processors
// is not for everybody.
func (h *hostFacts) lookAtMachine() {
	for _, p := range machinePlaces {
		st, err := os.Lstat(p)
		if err != nil || !st.IsDir() && !st.Mode().IsRegular() || !forAll(st) {
			continue
		}
		if p == processors && h.ID.UID == 0 {
			private, few := processorsPrivate(p)
			if !few {
				continue
			}
			h.MachinePrivate = private
		}
		h.Machine = append(h.Machine, p)
	}
}

// processorsPrivate lists what in dir only root may read, such as where a processor's
// state lies after a crash. A machine may have thousands of processors, and their
// directories are alike: it looks into the first. few is false for more than can be
// covered.
func processorsPrivate(dir string) (private []string, few bool) {
	first := filepath.Join(dir, "cpu0") + "/"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, false
	}
	for _, p := range rootOnly(dir, likeFirst) {
		private = append(private, p)
		rest, in := strings.CutPrefix(p, first)
		for _, e := range entries {
			if in && likeFirst(e.Name()) {
				private = append(private, filepath.Join(dir, e.Name(), rest))
			}
		}
	}
	return private, len(private) <= maxProcessorMasks
}
