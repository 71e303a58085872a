package worker

// Places in the tree, relative to its top. The bench makes them, the worker
// works on them.
const (
	SmallDir      = "small"  // directories of small source files: walk, grep, open
	ForestDir     = "forest" // directories of empty files: find
	FlatDir       = "flat"   // one directory with very many names: readdir
	RepoDir       = "repo"   // a git repository with two branches, main and other
	ModuleDir     = "module" // Go packages that import nothing: go build
	TarFile       = "src.tar"
	PartsDir      = "parts" // 100 directories, p000 ... p099: write paths of the column wp100
	GitConfigFile = "gitconfig"
	ProbeFile     = "probe.txt"   // rewritten from outside while the workers run
	WriteDir      = "w"           // the write path; each environment has a directory in it
	LargeFile     = "w/large.bin" // read by large and by random reads
)

// FilesPerDir is how many files each directory of SmallDir and ForestDir has.
const FilesPerDir = 100

// Scale says how much of everything there is.
type Scale struct {
	Small    int // files in SmallDir
	Forest   int // files in ForestDir
	Flat     int // names in FlatDir
	Repo     int // files in RepoDir
	Packages int // packages in ModuleDir
	Large    int // MiB of LargeFile
	Many     int // files that create, rename and unlink handle
	Loops    int // repetitions of a hot system call
}

// Full is what the published figures were measured with.
func Full() Scale {
	return Scale{Small: 10_000, Forest: 50_000, Flat: 100_000, Repo: 2000, Packages: 60, Large: 256, Many: 1000, Loops: 4000}
}

// Quick shows within a minute or two whether everything runs.
func Quick() Scale {
	return Scale{Small: 1000, Forest: 2000, Flat: 5000, Repo: 200, Packages: 5, Large: 32, Many: 200, Loops: 500}
}
