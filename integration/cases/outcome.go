package cases

import (
	"fmt"
	"sort"
	"strings"
)

// parseOutcome reads the right side of a line.
func parseOutcome(text string) (o Outcome, err error) {
	text, inView, hasView := strings.Cut(text, " | in a view ")
	if hasView {
		view, err := parseOutcome(inView)
		if err != nil {
			return o, err
		}
		o.View = &view
	}
	words, err := split(text)
	if err != nil {
		return o, err
	}
	next := func() (w string) {
		if len(words) > 0 {
			w, words = words[0], words[1:]
		}
		return w
	}
	switch first := next(); first {
	case "ok":
		for len(words) > 0 {
			w := next()
			switch {
			case w == "=":
				o.Data, o.HasData = next(), true
			case strings.ContainsAny(w[:1], "+-~"):
				o.Changes = append(o.Changes, w)
			default:
				return o, fmt.Errorf("%q is no change", w)
			}
		}
		sort.Strings(o.Changes)
		return o, nil
	case "leaks":
		o.Kind, o.Reason = WantLeak, next()
	case "refused":
		o.Kind, o.Words = WantRefused, strings.Split(next(), ",")
		switch w := next(); w {
		case "":
		case "naive":
			o.Naive = Naive(next())
			if _, known := naive[o.Naive]; !known {
				return o, fmt.Errorf("unknown mistake %q", o.Naive)
			}
		case "same":
			o.Same = next()
		case "hangs":
			o.Hangs = true
		default:
			return o, fmt.Errorf("unknown word %q", w)
		}
	default:
		return o, fmt.Errorf("unknown outcome %q", first)
	}
	if len(words) > 0 {
		return o, fmt.Errorf("%q is too much", words)
	}
	return o, nil
}
