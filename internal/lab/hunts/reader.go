package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/slowtests"
)

// show runs the tests on the fault and gives the reader the package to work on.
func (h *hunt) show(ctx context.Context, p printer) error {
	faulty, err := h.faulty()
	if err != nil {
		return err
	}
	isNew, err := h.unpack()
	if err != nil {
		return err
	}
	p.header(h)
	fmt.Fprintf(p.w, "$ go test -overlay … ./%s -run '%s'\n", h.Package, h.Test)
	switch o := goTest(ctx, p.w, faulty, h.Package, "-run", h.Test); {
	case o.err != nil:
		return o.err
	case o.passed():
		return fmt.Errorf("the tests pass with the fault of hunt %s: this hunt is out of date, please report it", h.id)
	}
	fmt.Fprintln(p.w)
	if isNew {
		p.say("带着这个错误的包在 %s/（测试仍在 %s/）。找到原因，就在那里改。",
			"The package with the fault is in %s/ (its tests are in %s/, as always). Find the cause and mend it there.", h.folder(), h.Package)
	} else {
		p.say("你的 %s/ 原样保留；想从头再来，删掉它（测试在 %s/）。",
			"Your %s/ is as you left it; remove it to begin anew (the tests are in %s/).", h.folder(), h.Package)
	}
	p.say("  make hunt H=%[1]s HINT=1            第一个提示，共 %[2]d 个\n  make hunt H=%[1]s CHECK=1           改好了吗？（也可以 CHECK=my.patch）\n  make hunt H=%[1]s SOLUTION=1        原因和改法",
		"  make hunt H=%[1]s HINT=1            the first of %[2]d hints\n  make hunt H=%[1]s CHECK=1           is it mended? (or CHECK=my.patch)\n  make hunt H=%[1]s SOLUTION=1        the cause and the fix", h.id, len(h.Hints))
	return nil
}

// check says whether a fix is right: the tests that the fault turned red are
// green, and so are all others of the package.
func (h *hunt) check(ctx context.Context, p printer, fix string) error {
	fixed, err := h.fixed(fix)
	if err != nil {
		return err
	}
	p.say("运行 %s …", "Running %s …", h.Test)
	if err := h.test(ctx, p, fixed, "-run", h.Test); err != nil {
		return err
	}
	p.say("通过。现在运行整个包 %s …", "Green. Now all of %s …", h.Package)
	slow, err := slowtests.Pattern(h.Package)
	if err != nil {
		return err
	}
	var args []string
	if slow != "" {
		args = []string{"-skip", slow}
	}
	if err := h.test(ctx, p, fixed, args...); err != nil {
		p.say("\n这个错误没有了，但改动弄坏了别的。", "\nThe fault is gone, but the fix breaks something else.")
		return err
	}
	p.say("\n找到了，改对了。\n", "\nFound and mended.\n")
	p.explanation(h)
	return nil
}

func (h *hunt) test(ctx context.Context, p printer, fixed files, args ...string) error {
	o := goTest(ctx, p.w, fixed, h.Package, args...)
	switch {
	case o.err != nil:
		return o.err
	case !o.passed():
		return fmt.Errorf(text{"还没改好：%s 失败", "not yet: %s fails"}.in(p.lang), strings.Join(o.failed, ", "))
	}
	return nil
}

// fixed returns what the reader made of the package: a patch against the package
// with the fault, or a folder, or, for 1, the hunt's own folder.
func (h *hunt) fixed(fix string) (files, error) {
	if fix == "1" {
		fix = h.folder()
	}
	info, err := os.Stat(fix)
	switch {
	case err != nil && fix == h.folder():
		return nil, fmt.Errorf("there is no %s yet: `make hunt H=%s` writes it", fix, h.id)
	case err != nil:
		return nil, fmt.Errorf("the fix: %w", err)
	case info.IsDir():
		return h.fixedInFolder(fix)
	}
	patch, err := os.ReadFile(fix)
	if err != nil {
		return nil, err
	}
	if len(strings.TrimSpace(string(patch))) == 0 {
		return nil, fmt.Errorf("%s: %w", fix, errEmptyPatch)
	}
	faulty, err := h.faulty()
	if err != nil {
		return nil, err
	}
	fixed, err := apply(patch, h.Package, faulty)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", fix, err)
	}
	return fixed, nil
}

func (h *hunt) fixedInFolder(dir string) (files, error) {
	faulty, err := h.faulty()
	if err != nil {
		return nil, err
	}
	fixed, err := h.fromFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if equal(fixed, faulty) {
		return nil, errors.New(dir + " still has the fault as it was given: change something there first")
	}
	return fixed, nil
}
