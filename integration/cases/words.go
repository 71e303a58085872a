package cases

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	repeated = regexp.MustCompile(`\{([^{}]+)\*(\d+)\}`)
	name     = regexp.MustCompile(`\$[A-Z]+`)
)

func repeat(s string) string {
	m := repeated.FindStringSubmatch(s)
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return s
	}
	return strings.Repeat(m[1], n)
}

// split cuts at blanks; what begins with a double quote is a Go string.
func split(text string) ([]string, error) {
	var words []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if text[0] != '"' {
			word, rest, _ := strings.Cut(text, " ")
			words, text = append(words, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return nil, err
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, err
		}
		words, text = append(words, word), text[len(quoted):]
	}
	return words, nil
}
