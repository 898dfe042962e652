package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// atRoot makes the project's root the working folder, as it is for readers.
func atRoot(t *testing.T) {
	t.Helper()
	t.Chdir("../../..")
}

// Every hunt of the tree can be played: its patches apply and go back to where
// they came from, and the tests that it names exist.
func TestHuntsOfTheTree(t *testing.T) {
	atRoot(t)
	hunts, err := load()
	require.NoError(t, err)
	chapters := map[string]int{}
	for _, h := range hunts {
		t.Run(h.id, func(t *testing.T) {
			chapters[h.id[:2]]++
			faulty, err := h.faulty()
			require.NoError(t, err)
			fixed, err := apply(h.solution, h.Package, faulty)
			require.NoError(t, err)
			for name, content := range fixed {
				original, err := os.ReadFile(name)
				require.NoError(t, err)
				assert.Equal(t, string(original), string(content), "the solution gives the tree back")
				assert.NotEqual(t, string(original), string(faulty[name]))
			}
			assert.NotEmpty(t, testsMatching(t, h), "no test of %s matches %q", h.Package, h.Test)
		})
	}
	for _, chapter := range []string{"01", "02", "03", "04", "05", "06"} {
		assert.GreaterOrEqual(t, chapters[chapter], 3, "hunts of chapter %s", chapter)
	}
}

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

func testsMatching(t *testing.T, h *hunt) []string {
	files, err := filepath.Glob(filepath.Join(h.Package, "*_test.go"))
	require.NoError(t, err)
	var found []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range testFunc.FindAllStringSubmatch(string(content), -1) {
			if regexp.MustCompile(h.Test).MatchString(m[1]) {
				found = append(found, m[1])
			}
		}
	}
	return found
}

const pkg = "chapters/09-x/p"

// aPackage makes a tree with one package and goes there.
func aPackage(t *testing.T) *hunt {
	t.Helper()
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(pkg, 0o755))
	write(t, pkg+"/a.go", "package p\n\nfunc A() int {\n\treturn 1\n}\n")
	write(t, pkg+"/b.go", "package p\n")
	write(t, pkg+"/a_test.go", "package p\n")
	return &hunt{id: "09-1", Package: pkg, Test: "TestA",
		bug: diff("a/"+pkg+"/a.go", "b/"+pkg+"/a.go", "@@ -3,3 +3,3 @@", " func A() int {", "-\treturn 1", "+\treturn 2", " }")}
}

func diff(old, new string, lines ...string) []byte {
	return []byte("--- " + old + "\n+++ " + new + "\n" + strings.Join(lines, "\n") + "\n")
}

func write(t *testing.T, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
}

// A fix that can't be tried is refused in words that say what to do.
func TestPatchesThatAreRefused(t *testing.T) {
	mend := []string{"@@ -3,3 +3,3 @@", " func A() int {", "-\treturn 2", "+\treturn 1", " }"}
	for name, tc := range map[string]struct {
		patch []byte
		want  string
	}{
		"empty":              {nil, "changes nothing"},
		"no diff":            {[]byte("return 1\n"), "changes nothing"},
		"broken":             {diff("a/a.go", "b/a.go", "@@ -3,9 +3,9 @@", " func A() int {"), "not a unified diff"},
		"against the tree":   {diff("a/"+pkg+"/a.go", "b/"+pkg+"/a.go", "@@ -3,3 +3,3 @@", " func A() int {", "-\treturn 1", "+\treturn 3", " }"), "does not apply"},
		"a test":             {diff("a/"+pkg+"/a_test.go", "b/"+pkg+"/a_test.go", "@@ -1 +1,2 @@", " package p", "+// nothing"), "is a test"},
		"a new test":         {diff("/dev/null", "b/"+pkg+"/z_test.go", "@@ -0,0 +1 @@", "+package p"), "is a test"},
		"no Go file":         {diff("a/"+pkg+"/go.mod", "b/"+pkg+"/go.mod", "@@ -1 +1 @@", "-a", "+b"), "not a Go file"},
		"a file of nowhere":  {diff("a/c.go", "b/c.go", mend...), "not there"},
		"a file of a friend": {diff("a/chapters/09-x/o.go", "b/chapters/09-x/o.go", mend...), "the fault is in " + pkg},
	} {
		t.Run(name, func(t *testing.T) {
			h := aPackage(t)
			write(t, "chapters/09-x/o.go", "package o\n")
			write(t, "my.patch", string(tc.patch))
			_, err := h.fixed("my.patch")
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

// A diff is accepted however it was made: its names may be those of any folders,
// and lines above may have come or gone.
func TestPatchesThatAreTaken(t *testing.T) {
	mend := []string{" func A() int {", "-\treturn 2", "+\treturn 1", " }"}
	for name, patch := range map[string][]byte{
		"git diff":     diff("a/"+pkg+"/a.go", "b/"+pkg+"/a.go", append([]string{"@@ -3,3 +3,3 @@"}, mend...)...),
		"no prefix":    diff("_hunt/09-1/a.go\t2026-01-02 10:00:00.000000000 +0000", "mine/a.go\t2026-01-02 10:00:00.000000000 +0000", append([]string{"@@ -3,3 +3,3 @@"}, mend...)...),
		"moved":        diff("a/a.go", "b/a.go", append([]string{"@@ -30,3 +30,3 @@"}, mend...)...),
		"with a title": append([]byte("diff --git a/a.go b/a.go\nindex 1234567..89abcde 100644\n"), diff("a/a.go", "b/a.go", append([]string{"@@ -3,3 +3,3 @@ x"}, mend...)...)...),
	} {
		t.Run(name, func(t *testing.T) {
			h := aPackage(t)
			write(t, "my.patch", string(patch))
			fixed, err := h.fixed("my.patch")
			require.NoError(t, err)
			assert.Equal(t, "package p\n\nfunc A() int {\n\treturn 1\n}\n", string(fixed[pkg+"/a.go"]))
		})
	}
}

// Of equal places the one nearest to where the patch says is taken, and those of
// one patch stay in their order.
func TestFragmentsFindTheirPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(pkg, 0o755))
	write(t, pkg+"/a.go", "0\nx\n2\nx\n4\nx\n")
	got, err := apply(diff("a/a.go", "b/a.go", "@@ -5 +5 @@", "-x", "+y", "@@ -6 +6 @@", "-x", "+z"), pkg, nil)
	require.NoError(t, err)
	assert.Equal(t, "0\nx\n2\ny\n4\nz\n", string(got[pkg+"/a.go"]))
}

// The reader's folder has the package with the fault, is written once, is unseen
// by Git, and only what differs from the tree is a change.
func TestFolder(t *testing.T) {
	h := aPackage(t)
	_, err := h.fixed("1")
	assert.ErrorContains(t, err, "make hunt H=09-1")

	isNew, err := h.unpack()
	require.NoError(t, err)
	assert.True(t, isNew)
	a, err := os.ReadFile("_hunt/09-1/a.go")
	require.NoError(t, err)
	assert.Contains(t, string(a), "return 2")
	assert.FileExists(t, "_hunt/09-1/b.go")
	assert.NoFileExists(t, "_hunt/09-1/a_test.go")
	assert.FileExists(t, "_hunt/.gitignore")

	_, err = h.fixed("1")
	assert.ErrorContains(t, err, "still has the fault")

	write(t, "_hunt/09-1/a.go", "package p // mine\n")
	write(t, "_hunt/09-1/c.go", "package p // new\n")
	require.NoError(t, os.Remove("_hunt/09-1/b.go"))
	isNew, err = h.unpack()
	require.NoError(t, err)
	assert.False(t, isNew)
	fixed, err := h.fixed("1")
	require.NoError(t, err)
	assert.True(t, equal(fixed, files{
		pkg + "/a.go": []byte("package p // mine\n"), pkg + "/b.go": nil, pkg + "/c.go": []byte("package p // new\n")}), "%q", fixed)

	write(t, "_hunt/09-1/a_test.go", "package p\n")
	_, err = h.fixed("1")
	assert.ErrorContains(t, err, "is a test")
}

// A fault is caught by a failure of its test and by nothing else.
func TestCaughtBy(t *testing.T) {
	h := &hunt{Test: "^TestA$"}
	failed := errors.New("exit status 1")
	for name, tc := range map[string]struct {
		output string
		err    error
		want   string
	}{
		"its test":     {"--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/x (0.01s)\nFAIL\n", failed, ""},
		"nothing":      {"ok  \tp\t0.1s\n", nil, "no test matching"},
		"another test": {"--- FAIL: TestB (0.01s)\nFAIL\n", failed, "nothing that matches"},
		"no build":     {"# p\na.go:1:1: bad\nFAIL\tp [build failed]\n", failed, "does not compile"},
		"timeout":      {"panic: test timed out after 1m30s\nrunning tests:\n--- FAIL: TestA (90s)\n", failed, "timed out"},
		"no test":      {"testing: warning: no tests to run\nPASS\n", nil, "no tests to run"},
		"a crash":      {"panic: boom\nFAIL\tp\t0.1s\n", failed, "no test did"},
	} {
		t.Run(name, func(t *testing.T) {
			err := h.caughtBy(outcomeOf(tc.output, tc.err))
			if tc.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestLanguage(t *testing.T) {
	for name, tc := range map[string]struct {
		env  map[string]string
		want language
	}{
		"nothing":        {nil, "en"},
		"Chinese locale": {map[string]string{"LANG": "zh_CN.UTF-8"}, "zh"},
		"other locale":   {map[string]string{"LANG": "de_DE.UTF-8"}, "en"},
		"LC_ALL first":   {map[string]string{"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"},
		"asked for":      {map[string]string{"HUNT_LANG": "zh", "LC_ALL": "C"}, "zh"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, languageOf(func(name string) string { return tc.env[name] }))
		})
	}
}

// What the reader asks for wrongly is said at once.
func TestReadersMistakes(t *testing.T) {
	for name, tc := range map[string]struct {
		o    options
		want string
	}{
		"no such hunt":       {options{hunt: "99-9"}, "`make hunt` lists them"},
		"no such hint":       {options{hunt: "01-1", hint: 99}, "hints 1 to"},
		"hint without hunt":  {options{hint: 1}, "which hunt"},
		"no such fix":        {options{hunt: "01-1", check: "nowhere.patch"}, "nowhere.patch"},
		"check without hunt": {options{check: "1"}, "which hunt"},
	} {
		t.Run(name, func(t *testing.T) {
			atRoot(t)
			assert.ErrorContains(t, tc.o.run(t.Context(), io.Discard, "en"), tc.want)
		})
	}
}

// The list names each hunt in both languages, the reader's first.
func TestList(t *testing.T) {
	for name, tc := range map[string]struct {
		lang        language
		first, then string
	}{
		"zh": {"zh", "  05-1  内存只增不减", "Memory that only grows"},
		"en": {"en", "  05-1  Memory that only grows", "内存只增不减"},
	} {
		t.Run(name, func(t *testing.T) {
			atRoot(t)
			var out strings.Builder
			require.NoError(t, options{}.run(t.Context(), &out, tc.lang))
			_, line, found := strings.Cut(out.String(), tc.first)
			require.True(t, found, out.String())
			line, _, _ = strings.Cut(line, "\n")
			assert.Contains(t, line, tc.then)
		})
	}
}

func TestLinks(t *testing.T) {
	h := &hunt{Reports: []string{"kubernetes/client-go#838"}}
	assert.Equal(t, []string{"https://github.com/kubernetes/client-go/issues/838"}, h.links())
}
