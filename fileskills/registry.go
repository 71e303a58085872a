package fileskills

import "sync"

// all are the skills there are, in the order in which they are offered.
var all = []*skill{
	readFile,
	listDirectory,
	globFiles,
	grepFiles,
	describeFile,
	writeFile,
	editFile,
	editFileBatch,
	appendFile,
	regexReplace,
	makeDirectory,
	copyFile,
	rename,
	deleteFile,
	applyPatch,
}

// byName finds a skill, and knows its aliases.
var byName = sync.OnceValue(func() map[string]*skill {
	m := make(map[string]*skill, len(all)+len(aliases))
	for _, k := range all {
		m[k.name] = k
	}
	for alias, name := range aliases {
		if k := m[name]; k != nil {
			m[alias] = k
		}
	}
	return m
})

// All describes every skill there is, whether or not a Set offers it, in the
// order in which they are offered. None has an Execute.
func All() []Skill {
	list := make([]Skill, len(all))
	for i, k := range all {
		list[i] = k.describe()
	}
	return list
}

// Canonical is a skill's own name for one that Call takes: itself, or what an
// alias such as search_text stands for. It is "" for a name that no skill has.
func Canonical(name string) string {
	if k := byName()[name]; k != nil {
		return k.name
	}
	return ""
}

// aliases are other names that Call takes and that are not listed.
var aliases = map[string]string{"search_text": "grep"}
