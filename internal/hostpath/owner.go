package hostpath

import (
	"io/fs"
	"os/user"
	"strconv"
)

// ModeOf is what decides for the system who may use a file.
type ModeOf struct {
	Path string
	UID  int
	Mode fs.FileMode
}

// UserName is the name of a user, and whether there is one; otherwise it is the number.
func UserName(uid int) (name string, known bool) {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return strconv.Itoa(uid), false
	}
	return u.Username, true
}
