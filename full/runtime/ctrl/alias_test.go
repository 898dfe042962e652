package ctrl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informer-walkthrough/informer-walkthrough/full/runtime/ctrl"
)

// exported are the names that a package's files declare, with what each is.
func exported(t *testing.T, dir string) map[string]string {
	t.Helper()
	names := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, decl := range f.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				names[decl.Name.Name] = "value"
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						names[spec.Name.Name] = "type"
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							names[name.Name] = "value"
						}
					}
				}
			}
		}
	}
	for name := range names {
		if !ast.IsExported(name) {
			delete(names, name)
		}
	}
	return names
}

// A name that upstream adds makes this fail.
func TestEveryNameOfUpstream(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "sigs.k8s.io/controller-runtime").Output()
	require.NoError(t, err)
	upstream := exported(t, strings.TrimSpace(string(out)))
	require.Greater(t, len(upstream), 20)
	assert.Equal(t, upstream, exported(t, "."))
}

func TestGetConfigSaysWhatToDo(t *testing.T) {
	for name, content := range map[string]*string{"missing": nil, "no kubeconfig": new("}{")} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			if content != nil {
				require.NoError(t, os.WriteFile(path, []byte(*content), 0o600))
			}
			t.Setenv("KUBECONFIG", path)
			_, err := ctrl.GetConfig()
			require.Error(t, err)
			assert.ErrorContains(t, err, "no usable kubeconfig: ")
			assert.ErrorContains(t, err, "name a readable file with --kubeconfig or $KUBECONFIG")
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}
