package pathresolver

import "errors"

var errIsDirectory = errors.New("is a directory")
