package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Version is the Kubernetes release of the control plane. tools/controlplane
// pins the same one; a test compares them.
const Version = "v1.37.2"

// modulePath tells our checkout from any other folder with a go.mod.
const modulePath = "github.com/informer-walkthrough/informer-walkthrough"

// majorMinor takes "v1.37.2" apart into "1" and "37".
func majorMinor(version string) (major, minor string) {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return version, ""
	}
	return parts[0], parts[1]
}

// pinsFolder finds tools/controlplane: upwards from the working directory, which
// within go test is the package's folder, else beside the source of this file.
func pinsFolder() (string, error) {
	var starts []string
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		starts = append(starts, filepath.Dir(file))
	}
	for _, dir := range starts {
		for {
			mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
			if err == nil && strings.HasPrefix(strings.TrimSpace(string(mod)), "module "+modulePath+"\n") {
				return filepath.Join(dir, "tools", "controlplane"), nil
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return "", fmt.Errorf("no checkout of %s above %s: run it from there", modulePath, strings.Join(starts, " or "))
}
