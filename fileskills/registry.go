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

// aliases are other names that Call takes and that are not listed.
var aliases = map[string]string{"search_text": "grep"}
