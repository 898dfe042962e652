// Package controlplane finds or builds etcd and kube-apiserver and starts them
// for tests and for the playground.
package controlplane
