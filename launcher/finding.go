package launcher

// Finding is one thing that Probe looked at.
type Finding struct {
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Required bool   `json:"required"`      // nothing runs without it
	Detail   string `json:"detail"`        // what was seen
	Means    string `json:"means"`         // what it means for the user
	Fix      string `json:"fix,omitempty"` // how to mend it; "" if OK
}
