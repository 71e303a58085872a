package access_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
)

// The words stand in documents, databases, reports and messages.
func TestWords(t *testing.T) {
	var all []string
	for _, a := range access.Actions() {
		all = append(all, string(a))
	}
	require.Equal(t, "fs.read fs.list fs.write fs.create fs.delete fs.move fs.meta "+
		"msg.send msg.contextualize msg.execute msg.ask msg.answer "+
		"agent.status agent.cancel agent.destroy agent.interrupt agent.spawn tool.use policy.edit", strings.Join(all, " "))
	require.Equal(t, all[7:], access.Action("").Words())

	data, err := json.Marshal(access.Access{Action: access.FSWrite, Resource: "src/a"})
	require.NoError(t, err)
	require.JSONEq(t, `{"action":"fs.write","resource":"src/a"}`, string(data))
}

// TestTable is the whole table between operations and actions.
func TestTable(t *testing.T) {
	want := map[string]access.Action{
		"read": access.FSRead, "write": access.FSWrite, "create": access.FSCreate, "delete": access.FSDelete,
		"rename": access.FSMove, "link": access.FSMove, "meta": access.FSMeta,
	}
	for word, action := range want {
		op, err := access.ParseOp(word)
		require.NoError(t, err, word)
		require.Equal(t, action, op.Action(), word)
		if back, ok := action.Op(); word != "link" {
			require.True(t, ok, word)
			require.Equal(t, op, back, word)
		}
	}
	for _, word := range []string{"", "Read", "fs.read", "list", "open"} {
		_, err := access.ParseOp(word)
		require.EqualError(t, err, `unknown op "`+word+`": want read, write, create, delete, rename, link, meta`)
		require.Empty(t, access.Op(word).Action())
	}
	for _, a := range access.Actions() {
		op, ok := a.Op()
		require.Equal(t, a.OnFiles(), ok, a)
		if ok {
			require.Equal(t, a.Kind() == access.KindRead, op == access.OpRead, "%s is read by no operation that changes", a)
		}
	}
}

// Each action is of one kind, and no other word is of any.
func TestKinds(t *testing.T) {
	var all []access.Action
	for _, kind := range []access.Kind{access.KindRead, access.KindWrite, access.KindMessage, access.KindAgent, access.KindTool, access.KindOther} {
		of := access.ActionsOf(kind)
		require.NotEmpty(t, of)
		all = append(all, of...)
	}
	require.ElementsMatch(t, access.Actions(), all)
	for _, word := range []access.Action{"", "fs", "fs.chmod", "FS.READ"} {
		require.Zero(t, word.Kind(), word)
		require.False(t, word.OnFiles(), word)
		_, ok := word.Op()
		require.False(t, ok, word)
	}
}

// What is granted together is of one kind, and stands for itself.
func TestGrantedAs(t *testing.T) {
	for _, a := range access.Actions() {
		g := a.GrantedAs()
		require.Equal(t, a.Kind(), g.Kind(), a)
		require.Equal(t, g, g.GrantedAs(), a)
	}
	require.Equal(t, access.FSRead, access.FSList.GrantedAs())
	require.Equal(t, access.FSWrite, access.FSCreate.GrantedAs())
	require.Equal(t, access.FSDelete, access.FSDelete.GrantedAs(), "and for no more")
}
