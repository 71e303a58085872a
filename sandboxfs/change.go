package sandboxfs

import (
	"io/fs"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Change is something that a program did through a view, as Options.OnChange
// hears of it. Removals are not told.
type Change struct {
	// Op is OpCreate for a new file, directory, link, FIFO or socket, OpWrite for
	// a file that was opened to be written or was cut, OpMeta for one whose mode
	// was changed, OpRename, and OpLink for another name.
	Op    pathresolver.Op
	Place string
	// To is the new name, of OpRename and OpLink.
	To string
	// Exchange says that what was at To is at Place now, of OpRename.
	Exchange bool
	// Mode is its type and permissions afterwards. Of OpRename it is the type
	// alone, and fs.ModeIrregular where that is not known.
	Mode fs.FileMode
}
