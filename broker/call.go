package broker

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// digestOf binds an answer to exactly this call: SHA-256 over its parts, each
// with its length before it, so that no two calls are written alike.
func digestOf(c *access.Request) string {
	h := sha256.New()
	part := func(s string) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	part("pinfold request 1")
	part(string(c.Action))
	part(c.Resource)
	for _, a := range c.Also {
		part(string(a.Action))
		part(a.Resource)
	}
	part("") // no action is empty: the list ends here
	part(c.Tool)
	part(c.ArgsDigest)
	part(compactJSON(c.Input))
	return hex.EncodeToString(h.Sum(nil))
}

// checkCall refuses what cannot be kept or shown.
func checkCall(c *access.Request) error {
	switch {
	case len(c.Input) > maxInput:
		return refuse(CodeTooLarge, "the arguments are larger than %d bytes", maxInput)
	case tooMuch(c) || len(c.Tool) > maxName:
		return tooManyPlaces()
	case !isStorable(c.Resource) || !isStorable(c.Tool):
		return refuse(CodeInvalid, "a name that is no UTF-8 cannot be asked for")
	}
	for _, a := range c.Also {
		if !isStorable(a.Resource) || len(a.Resource) > maxName {
			return refuse(CodeInvalid, "a name that is too long or no UTF-8 cannot be asked for")
		}
	}
	return nil
}

// tooMuch reports whether a call names more than is decided about: what deciding
// costs grows with it, and while the store's transaction lasts others wait.
func tooMuch(c *access.Request) bool {
	if len(c.Also) > maxAlso || len(c.Resource) > maxName {
		return true
	}
	components := 1 + strings.Count(c.Resource, "/")
	for _, a := range c.Also {
		if len(a.Resource) > maxName {
			return true
		}
		components += 1 + strings.Count(a.Resource, "/")
	}
	return components > maxComponents
}

func tooManyPlaces() *Error {
	return refuse(CodeTooLarge, "a request names at most %d further places, each of at most %d bytes, and of %d components together", maxAlso, maxName, maxComponents)
}

// call is the request as it was made.
func (r *Request) call() access.Request {
	return access.Request{Principal: r.AgentID, Action: r.Action, Resource: r.Resource, Also: r.Also, Tool: r.Tool, ArgsDigest: r.Digest}
}

// grant is the request as a grant. within is the manager's policy, nil for the
// operator; at is where the agent works in the manager's project.
func (r *Request) grant(within *permission.Policy, at string) permission.Grant {
	g := permission.Grant{
		ID: r.ID, Tool: r.Tool, By: r.ApproverID, Within: within, At: at,
		Accesses: append([]access.Access{{Action: r.Action, Resource: r.Resource}}, r.Also...),
	}
	switch r.Scope {
	case Once, "":
		g.Digest = r.Digest
	case Subtree:
		g.Subtree = true
	case Session:
		g.Anywhere = true
	}
	return g
}
