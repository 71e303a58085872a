// Package skilltest is for tests about the file skills.
//
// Run is the contract suite: what every skill must do and refuse, on any
// implementation and over any transport. An implementation is tested by an
// adapter of a few lines:
//
//	func TestContract(t *testing.T) {
//		skilltest.Run(t, func(t *testing.T, w skilltest.World) skilltest.Surface {
//			...
//		})
//	}
//
// OnAfero and Mem are an FS for your own tests: the skills over any afero.Fs,
// or over memory, with no disk touched. They are no sandbox: their rules are
// about names alone, which is enough where there are no links.
package skilltest
