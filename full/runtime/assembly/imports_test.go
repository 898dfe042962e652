package assembly_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/informer-walkthrough/informer-walkthrough"

// listed is what go list says of a package.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports"}, args...)...)
	cmd.Dir = "../../.."
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
}

var (
	chapterNumber = regexp.MustCompile(`^chapters/(\d\d)-`)
	numberOf      = func(path string) string {
		if m := chapterNumber.FindStringSubmatch(path); m != nil {
			return m[1]
		}
		return ""
	}
)

// broken says which rule an import breaks; "" means none.
func broken(from, to string, ofTest bool) string {
	chapter, other := numberOf(from), numberOf(to)
	switch {
	case strings.HasPrefix(to, "internal/lab") && !strings.HasPrefix(from, "internal/lab"):
		return "nothing imports internal/lab"
	case chapter != "" && other > chapter:
		return "a chapter imports no higher chapter"
	case chapter != "" && strings.HasPrefix(to, "full"):
		return "a chapter does not import full/"
	case chapter != "" && strings.HasPrefix(to, "internal/") && !ofTest && !isTestCode(from):
		return "a chapter's code imports nothing of internal/"
	case strings.HasPrefix(from, "full") && strings.HasPrefix(to, "internal/") && !ofTest:
		return "what users fork imports nothing of internal/"
	}
	return ""
}

// isTestCode: the suites that tests of several packages share.
func isTestCode(path string) bool { return strings.HasSuffix(path, "test") }

func TestImportRules(t *testing.T) {
	seen := 0
	for _, p := range goList(t, "./...") {
		from := strings.TrimPrefix(p.ImportPath, module+"/")
		check := func(imports []string, ofTest bool) {
			for _, imported := range imports {
				to, ours := strings.CutPrefix(imported, module+"/")
				if !ours {
					continue
				}
				seen++
				if rule := broken(from, to, ofTest); rule != "" {
					assert.Fail(t, rule, "%s imports %s", from, to)
				}
			}
		}
		check(p.Imports, false)
		check(append(p.TestImports, p.XTestImports...), true)
	}
	assert.Greater(t, seen, 50, "go list found the module's packages")
}

// The rules themselves: a rule that finds nothing may just be blind.
func TestImportRulesSeeWhatIsWrong(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to string
		ofTest   bool
		broken   bool
	}{
		"lower chapter":           {"chapters/06-reconcile-loop/controller", "chapters/02-source-kind", false, false},
		"higher chapter":          {"chapters/02-source-kind", "chapters/06-reconcile-loop/workqueue", false, true},
		"higher chapter, in test": {"chapters/02-source-kind", "chapters/06-reconcile-loop/workqueue", true, true},
		"full":                    {"chapters/02-source-kind", "full/runtime/manager", true, true},
		"lab":                     {"full/runtime/manager", "internal/lab/bench", true, true},
		"lab, of itself":          {"internal/lab/bench", "internal/lab/playground", false, false},
		"control plane, in test":  {"full/runtime/manager", "internal/controlplane", true, false},
		"control plane":           {"full/runtime/manager", "internal/controlplane", false, true},
		"scripted server":         {"chapters/03-informer-run", "internal/lwtest", false, true},
		"scripted server, suite":  {"chapters/03-informer-run/informertest", "internal/lwtest", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.broken, broken(tc.from, tc.to, tc.ofTest) != "")
		})
	}
}

// What an operator links: nothing that only the walkthrough needs.
func TestForkLinksNoLab(t *testing.T) {
	// Not full/config/configtest, which only tests import.
	for _, p := range goList(t, "-deps", "./full", "./full/api/...", "./full/controller", "./full/runtime/...", "./full/trace") {
		for _, foreign := range []string{"k8s.io/kubernetes", "sigs.k8s.io/controller-runtime/pkg/envtest", module + "/internal/"} {
			assert.False(t, strings.HasPrefix(p.ImportPath, foreign), "./full links %s", p.ImportPath)
		}
	}
}
