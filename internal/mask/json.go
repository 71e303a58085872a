package mask

import "encoding/json"

// json reads what encoding/json takes for valid.
func (m *masker) json() error { return m.jsonPart(0, len(m.in), nil) }

// jsonPart masks the JSON value in[i:j]. key, if set, is called for each key, decoded.
func (m *masker) jsonPart(i, j int, key func(string)) error {
	if !json.Valid(m.in[i:j]) {
		return m.unclear(i, "no valid JSON")
	}
	for i < j {
		switch b := m.in[i]; {
		case b == '"':
			end := i + 1
			for m.in[end] != '"' {
				if m.in[end] == '\\' {
					end++
				}
				end++
			}
			// In valid JSON a string before a colon is a key.
			if at := m.space(end+1, j); at < j && m.in[at] == ':' {
				if key != nil {
					var name string
					_ = json.Unmarshal(m.in[i:end+1], &name)
					key(name)
				}
			} else {
				m.value(i+1, end)
			}
			i = end + 1
		case b == '-' || isDigit(b):
			end := m.run(i, j, func(b byte) bool {
				return isDigit(b) || b == '-' || b == '+' || b == '.' || b == 'e' || b == 'E'
			})
			m.number(i, end)
			i = end
		default: // what holds values together, and true, false and null
			i++
		}
	}
	return nil
}

// space is the first byte from i that is no white space.
func (m *masker) space(i, j int) int {
	return m.run(i, j, func(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' })
}
