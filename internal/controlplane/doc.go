// Package controlplane brings etcd and kube-apiserver to this machine and runs
// them, for the tests and for the playground.
//
// A test package whose tests need an API server says so in two places:
//
//	func TestMain(m *testing.M) { controlplane.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		cfg := controlplane.Config(t)         // starts it when it is the first to ask
//		ns := controlplane.Namespace(t, cfg)  // a namespace of its own
//	}
//
// A program uses Start and owes it a Stop.
//
// The binaries are taken from the first of these that has them:
//
//  1. the folder that KUBEBUILDER_ASSETS names; their version is checked
//  2. our folder in the user's cache directory, by version, system and processor
//  3. envtest's download of the minor version, where its index can be reached
//  4. a build from the Go modules that tools/controlplane pins, which works
//     wherever a Go module proxy can be reached, and takes some minutes once
//
// What 3 and 4 bring is kept in 2.
//
// Every control plane lives in one temporary folder whose file "owner" its
// process keeps locked. The lock goes with the process however that ends, so the
// next Start finds the folders without an owner, ends what still runs in them,
// and removes them. A configuration or a cluster that the environment names
// (KUBECONFIG, USE_EXISTING_CLUSTER) is never used.
package controlplane
