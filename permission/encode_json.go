package permission

import (
	"bytes"
)

// MarshalJSON writes the document with the keys of the schema; Decode reads
// it back.
func (d Document) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	writeJSON(&b, d.tree())
	return b.Bytes(), nil
}

// UnmarshalJSON is Decode for a document that stands within other JSON.
func (d *Document) UnmarshalJSON(data []byte) error {
	src, err := Decode("json", data)
	if err != nil {
		return err
	}
	*d = src.Document
	return nil
}

func writeJSON(b *bytes.Buffer, n node) {
	if n.scalar != nil {
		b.WriteString(jsonText(n.scalar))
		return
	}
	brackets := "{}"
	if n.list {
		brackets = "[]"
	}
	b.WriteByte(brackets[0])
	for i, c := range n.items {
		if i > 0 {
			b.WriteByte(',')
		}
		if !n.list {
			b.WriteString(jsonText(c.key) + ":")
		}
		writeJSON(b, c.node)
	}
	b.WriteByte(brackets[1])
}
