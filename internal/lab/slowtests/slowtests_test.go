package slowtests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPattern(t *testing.T) {
	dir := t.TempDir()
	write := func(file, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("package p\n\n"+text), 0o600))
	}
	write("quick_test.go", "func TestQuick(t *testing.T) {}\n")
	none, err := Pattern(dir)
	require.NoError(t, err)
	assert.Empty(t, none)

	write("envtest_test.go", "func TestMain(m *testing.M) {}\n\nfunc TestA(t *testing.T) { controlplane.Config(t) }\n\nfunc TestB(t *testing.T) {}\n")
	slow, err := Pattern(dir)
	require.NoError(t, err)
	assert.Equal(t, "^(TestA|TestB)$", slow)
}
