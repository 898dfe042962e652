package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every page of the repository agrees with the sources that it talks about.
func TestTheTextsHold(t *testing.T) {
	t.Chdir("../../..")
	b, err := openHere()
	require.NoError(t, err)
	for _, p := range b.check() {
		t.Error(p)
	}
}
