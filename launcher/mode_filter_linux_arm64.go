package launcher

// The architecture began without the calls that have no directory argument.
var legacyModeCalls []modeCall
