package permission

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// node is a document on its way out: the canonical order of its keys, before
// it is written as YAML or JSON.
type node struct {
	path   string
	scalar any     // string, bool or int; nil for the others
	list   bool    // items without keys
	items  []child // of a list or a mapping
	block  bool    // block style, however short
}

type child struct {
	key string
	node
}

// tree is the canonical form of a document: the schema's order of keys, names
// sorted, absent keys left out.
func (d Document) tree() node { return treeOf("", reflect.ValueOf(d)) }

func treeOf(path string, v reflect.Value) node {
	n := node{path: path}
	switch {
	case v.Type() == targetsType:
		t := v.Interface().(Targets)
		if t.Word != "" {
			n.scalar = t.Word
			return n
		}
		return treeOf(path, reflect.ValueOf(t.IDs))
	case v.Type() == durationType:
		n.scalar = v.Interface().(Duration).String()
	case v.Kind() == reflect.Pointer:
		return treeOf(path, v.Elem())
	case v.Type() == networkType && v.Interface().(Network).isBool():
		n.scalar = v.Interface().(Network).Mode == NetworkHost
	case v.Kind() == reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			value := v.Field(f.index)
			if !value.IsZero() || f.always {
				c := child{key: f.key, node: treeOf(join(path, f.key), value)}
				c.block = f.block
				n.items = append(n.items, c)
			}
		}
	case v.Kind() == reflect.Map:
		m := map[string]reflect.Value{}
		for iter := v.MapRange(); iter.Next(); {
			m[iter.Key().String()] = iter.Value()
		}
		for _, key := range slices.Sorted(maps.Keys(m)) {
			n.items = append(n.items, child{key: key, node: treeOf(join(path, key), m[key])})
		}
	case v.Kind() == reflect.Slice:
		n.list = true
		for i := range v.Len() {
			n.items = append(n.items, child{node: treeOf(fmt.Sprintf("%s[%d]", path, i), v.Index(i))})
		}
	case v.Kind() == reflect.Bool:
		n.scalar = v.Bool()
	case v.Kind() == reflect.Int:
		n.scalar = int(v.Int())
	default:
		n.scalar = v.String()
	}
	return n
}
