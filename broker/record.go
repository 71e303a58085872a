package broker

import (
	"time"

	"github.com/pinfold-dev/pinfold/access"
)

// Record is one line of the audit. It never changes once it is written.
type Record struct {
	Seq  int64 `json:"seq"`  // from 1, without gaps
	Prev Hash  `json:"prev"` // of the record before; zero for the first
	Hash Hash  `json:"hash"` // of all other fields

	Time       time.Time     `json:"time,omitzero"`
	Principal  string        `json:"principal"` // an agent's id, "root", the operator, or "" for the broker itself
	Action     string        `json:"action"`    // one of permission.Actions, or of what the broker does: approve, deny, hire, ...
	Resource   string        `json:"resource"`
	Tool       string        `json:"tool,omitempty"`
	Effect     access.Effect `json:"effect"`
	Code       access.Code   `json:"code,omitempty"`
	Reason     string        `json:"reason,omitempty"` // for people, cut to a bound
	Rule       string        `json:"rule,omitempty"`   // the policy's rule that decided; "" for none
	PolicyHash string        `json:"policy_hash,omitempty"`
	RequestID  string        `json:"request_id,omitempty"` // of the approval that it is about; "" for none
}

// Hash is SHA-256 in hexadecimal; "" stands before the first record.
type Hash string

// Head is the end of the chain: how many records there are, and the hash of
// the last. Kept elsewhere, it shows a chain that was cut or written anew.
type Head struct {
	Seq  int64 `json:"seq"`
	Hash Hash  `json:"hash"`
}
