// Package crd holds the generated CustomResourceDefinitions, for programs that
// install them.
package crd

import "embed"

// Files are the generated manifests.
//
//go:embed *.yaml
var Files embed.FS
