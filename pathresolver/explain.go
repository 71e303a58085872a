package pathresolver

// Decision is what Explain answers. It is for the operator: Link and Target
// may tell where a link leads outside the root.
type Decision struct {
	Op       Op       `json:"op"`
	Path     string   `json:"path"` // as given
	Allowed  bool     `json:"allowed"`
	Place    string   `json:"place,omitempty"` // where the path leads, if to a place
	Exists   bool     `json:"exists"`
	Rule     Rule     `json:"rule,omitempty"` // which rule refused
	Reason   string   `json:"reason"`
	Pattern  string   `json:"pattern,omitempty"`  // the glob or write path that decided
	Origin   string   `json:"origin,omitempty"`   // where that entry was written, from Config.Origins
	Link     string   `json:"link,omitempty"`     // the link that decided, as a place
	Target   string   `json:"target,omitempty"`   // and its text
	Writable []string `json:"writable"`           // the write paths
	Readable []string `json:"readable,omitempty"` // the read paths; none: everything
}

// whyWritable is the reason of a change that is allowed.
func (v Verdict) whyWritable() string {
	if v.AskWrite {
		return "it was granted"
	}
	return "the write path '" + EscapePath(v.Pattern) + "' covers it"
}
