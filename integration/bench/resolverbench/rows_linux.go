package resolverbench

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns is the order of the table.
var columns = []string{"floor", "limit", "os.Open", "os.Root", "pathrs-lite", "evalsymlinks", "openfd", "open", "walkfd", "walk"}

func (w *world) rows() []row {
	rows := []row{
		w.openRow("depth1", "open, depth 1", depth1),
		w.openRow("depth5", "open, depth 5", depth5),
		w.openRow("depth20", "open, depth 20", depth20),
		w.openRow("links5", "open, 5 links", fiveLinks),
	}
	add := func(name, title string, n int, loops map[string]loop) {
		rows = append(rows, newRow(name, title, n, loops))
	}
	add("read_w", "open for reading beneath a write path", 2000, map[string]loop{
		"floor": w.floor(writeFile, unix.O_RDONLY), "openfd": openFD(w.ours, writeFile, unix.O_RDONLY),
		"walkfd": openFD(w.walker, writeFile, unix.O_RDONLY)})
	add("write", "open for writing", 2000, map[string]loop{
		"floor": w.floor(writeFile, unix.O_WRONLY), "openfd": openFD(w.ours, writeFile, unix.O_WRONLY), "walkfd": openFD(w.walker, writeFile, unix.O_WRONLY)})
	add("write_link", "open for writing through a link", 2000, map[string]loop{
		"floor": w.floor(writeLink, unix.O_WRONLY), "openfd": openFD(w.ours, writeLink, unix.O_WRONLY), "walkfd": openFD(w.walker, writeLink, unix.O_WRONLY)})
	add("stat", "lstat, depth 5", 2000, map[string]loop{
		"os.Open": lstat(os.Lstat, w.full(depth5)), "os.Root": lstat(w.root.Lstat, depth5),
		"open": lstat(w.ours.Stat, depth5), "walk": lstat(w.walker.Stat, depth5)})
	add("rename", "rename", 1000, map[string]loop{
		"os.Open": rename(os.Rename, w.full(renameA), w.full(renameB)), "os.Root": rename(w.root.Rename, renameA, renameB),
		"open": rename(w.oursRename, renameA, renameB)})
	add("refusal", "refused write with its full text", 1000, map[string]loop{
		"openfd": refuse(w.ours, deniedFile), "walkfd": refuse(w.walker, deniedFile)})
	return rows
}

func (w *world) openRow(name, title, path string) row {
	return newRow(name, title, 2000, map[string]loop{
		"floor": w.floor(path, unix.O_RDONLY), "limit": w.limit(path), "os.Open": w.osOpen(path), "os.Root": w.osRoot(path),
		"pathrs-lite": w.pathrsLite(path), "evalsymlinks": w.evalSymlinks(path),
		"openfd": openFD(w.ours, path, unix.O_RDONLY), "open": open(w.ours, path),
		"walkfd": openFD(w.walker, path, unix.O_RDONLY), "walk": open(w.walker, path),
	})
}

func newRow(name, title string, n int, loops map[string]loop) row {
	r := row{name: name, title: title, loops: loops, n: n}
	for _, c := range columns {
		if loops[c] != nil {
			r.columns = append(r.columns, c)
		}
	}
	return r
}
