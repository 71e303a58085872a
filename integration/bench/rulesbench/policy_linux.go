package rulesbench

import (
	"fmt"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/integration/bench/worker"
	"github.com/pinfold-dev/pinfold/permission"
)

// existing bounds the places to ask for that the tree has.
const existing = 100

// document is a policy of n rules beside its write path, as a large repository
// would have them: names, endings and globs to hide and to protect, and places
// that have to be asked for, of which some are there in the tree that the view
// shows. What is opened there lies elsewhere: a rule costs what it is not about
// nothing.
func document(n int) permission.Document {
	fs := permission.FS{Read: []string{"."}, Write: []string{worker.WriteDir}}
	for i := range n {
		switch i % 10 {
		case 0, 1:
			if i < existing {
				fs.AskWrite = append(fs.AskWrite, fmt.Sprintf(worker.PartsDir+"/p%03d", i))
				break
			}
			fs.AskWrite = append(fs.AskWrite, fmt.Sprintf("services/s%d/deploy", i))
		case 2, 3:
			fs.Hide = append(fs.Hide, fmt.Sprintf("**/.secret%d", i))
		case 4, 5:
			fs.Hide = append(fs.Hide, fmt.Sprintf("**/*.key%d", i))
		case 6:
			fs.Hide = append(fs.Hide, fmt.Sprintf("services/s%d/**/private", i))
		case 7, 8:
			fs.Protect = append(fs.Protect, fmt.Sprintf("services/s%d/*.lock", i))
		case 9:
			fs.Protect = append(fs.Protect, fmt.Sprintf("LICENSES/l%d.txt", i))
		}
	}
	return permission.Document{Version: 1, Name: fmt.Sprintf("rules-%d", n), Network: &permission.Network{Mode: permission.NetworkHost}, FS: &fs,
		Defaults: map[access.Action]access.Effect{access.MsgSend: access.Allow, access.ToolUse: access.Allow}}
}

// policy compiles document(n).
func policy(n int) (*permission.Policy, error) {
	src, err := permission.FromDocument("rules.yaml", document(n))
	if err != nil {
		return nil, err
	}
	return permission.Compile(src, permission.Options{})
}
