package controller

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What the operator itself writes on an object is not copied, whatever a fork has
// named it.
func TestOwnKeysAreNotCopied(t *testing.T) {
	t.Parallel()
	assert.Empty(t, portable(map[string]string{LabelCopy: "", AnnotationSource: "", AnnotationMetadata: "", Finalizer: ""}))
}
