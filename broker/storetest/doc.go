// Package storetest is the contract of broker.Store. An implementation's test
// is an adapter:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Open {
//			path := filepath.Join(t.TempDir(), "broker.db")
//			return func(t *testing.T) broker.Store {
//				store, err := sqlitestore.Open(t.Context(), path)
//				require.NoError(t, err)
//				return store
//			}
//		})
//	}
//
// Load and Check are the two halves of a test that kills a process: what Load
// acknowledged before its process ended, Check finds.
package storetest
