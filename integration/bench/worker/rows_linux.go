package worker

import "slices"

// Row is one piece of work.
type Row struct {
	Name, Title string
	// Cold rows want the system's entries and inodes dropped first.
	Cold bool
	// Writes tells that the row writes: what others wrote has to be on the
	// disk first, or the row pays for it.
	Writes bool
	// Hidden rows are for the bench itself and stand in no table.
	Hidden bool
	// Repeat is how many rounds are enough for a long row, 0 for all.
	Repeat int
	// Times is how many times as many rounds a short row has, 0 for once: its
	// differences are small, and where who is measured happens to lie in memory
	// makes as much.
	Times int
	do    func(*Job) (operations int, err error)
}

const shortTimes = 4

// rows in the order of the table: first what only reads, then what writes.
// A row of commands takes the time of one command, start included.
var rows = []Row{
	{Name: "open", Times: shortTimes, Title: "open+close, hot", do: openHot},
	{Name: "read_small", Times: shortTimes, Title: "read small file, hot", do: readSmall},
	{Name: "stat", Times: shortTimes, Title: "stat, hot", do: statHot},
	{Name: "missing", Times: shortTimes, Title: "stat of a missing name", do: missing},
	{Name: "open_cold", Times: shortTimes, Title: "open, cold", Cold: true, do: openCold},
	{Name: "walk_first", Times: shortTimes, Title: "walk, first", Cold: true, do: walk},
	{Name: "walk_second", Times: shortTimes, Title: "walk, second", do: twice(walk)},
	{Name: "find", Title: "find, second", do: twice(command(find))},
	{Name: "readdir", Title: "readdir, one large directory", do: readdir},
	{Name: "grep", Title: "grep -r, second", do: twice(command(grep))},
	{Name: "rg", Title: "rg, second", do: twice(command(rg))},
	{Name: "git_status", Title: "git status, second", do: twice(command(gitStatus))},
	{Name: "parallel64", Title: "read small, 64 readers", do: twice(parallelReaders)},
	{Name: "large_read", Times: shortTimes, Title: "large read (per MiB)", do: largeRead},
	{Name: "large_write", Title: "large write (per MiB)", Writes: true, do: largeWrite},
	{Name: "large_sync", Title: "large write, fsync (per MiB)", Writes: true, do: largeSync},
	{Name: "overwrite", Title: "large write in place (per MiB)", Writes: true, do: overwrite},
	{Name: "append", Times: shortTimes, Title: "append 512 bytes", Writes: true, do: appendSmall},
	{Name: "random4k", Times: shortTimes, Title: "random 4k reads", do: randomReads},
	{Name: "mmap_read", Times: shortTimes, Title: "mmap, read (per page)", do: mmapRead},
	{Name: "mmap_write", Times: shortTimes, Title: "mmap, write (per page)", Writes: true, do: mmapWrite},
	{Name: "mmap_sync", Times: shortTimes, Title: "mmap, write and sync (per page)", Writes: true, do: mmapSync},
	{Name: "create", Title: "create files", Writes: true, do: create},
	{Name: "rename", Title: "rename files", Writes: true, do: renameMany},
	{Name: "unlink", Title: "unlink files", Writes: true, do: unlinkMany},
	{Name: "tar_x", Repeat: 3, Title: "tar x", Writes: true, do: tarExtract},
	{Name: "cp_r", Repeat: 3, Title: "cp -r", Writes: true, do: copyTree},
	{Name: "rm_rf", Repeat: 3, Title: "rm -rf", Writes: true, do: removeTree},
	{Name: "git_clone", Repeat: 3, Title: "git clone", Writes: true, do: gitClone},
	{Name: "checkout", Repeat: 3, Title: "git checkout", Writes: true, do: gitCheckout},
	{Name: "go_build_first", Title: "go build, first", Writes: true, Repeat: 3, do: goBuildFirst},
	{Name: "go_build_second", Title: "go build, second", Repeat: 3, do: goBuildSecond},
	{Name: "probe", Hidden: true, do: probe},
	{Name: "mounts", Hidden: true, do: mounts},
}

// Rows lists what stands in the table.
func Rows() []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Hidden })
}

// twice does a row once off the clock, and once by it.
func twice(do func(*Job) (int, error)) func(*Job) (int, error) {
	return func(j *Job) (int, error) {
		if _, err := do(j); err != nil {
			return 0, err
		}
		j.spent = 0
		return do(j)
	}
}
