package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// module is one version of an upstream module on disk.
type module struct {
	name    string // as refs write it: client-go
	repo    string // on GitHub: kubernetes/client-go
	version string
	dir     string
}

var repos = map[string]struct{ path, repo string }{
	"client-go":          {"k8s.io/client-go", "kubernetes/client-go"},
	"apimachinery":       {"k8s.io/apimachinery", "kubernetes/apimachinery"},
	"controller-runtime": {"sigs.k8s.io/controller-runtime", "kubernetes-sigs/controller-runtime"},
}

var modules sync.Map // "client-go@v0.23.5" → func() (module, error)

// moduleOf finds a module, the version that go.mod requires if none is given.
// What the module cache lacks is downloaded.
func moduleOf(name, version string) (module, error) {
	once, _ := modules.LoadOrStore(name+"@"+version, sync.OnceValues(func() (module, error) { return download(name, version) }))
	return once.(func() (module, error))()
}

func download(name, version string) (module, error) {
	known, ok := repos[name]
	if !ok {
		return module{}, fmt.Errorf("module %q is not one of client-go, controller-runtime, apimachinery", name)
	}
	query := known.path
	if version != "" {
		query += "@" + version
	}
	cmd := exec.Command("go", "mod", "download", "-json", query)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var found struct{ Version, Dir, Error string }
	if jsonErr := json.Unmarshal(out, &found); jsonErr == nil && found.Error != "" {
		return module{}, fmt.Errorf("%s: %s", query, found.Error)
	} else if err != nil {
		return module{}, fmt.Errorf("go mod download %s: %w: %s", query, err, strings.TrimSpace(stderr.String()))
	}
	return module{name: name, repo: known.repo, version: found.Version, dir: found.Dir}, nil
}
