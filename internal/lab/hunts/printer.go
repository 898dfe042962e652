package main

import (
	"fmt"
	"io"
	"strings"
)

// printer speaks to the reader, in one language.
type printer struct {
	w    io.Writer
	lang language
}

// say writes a line, made of the format of the reader's language.
func (p printer) say(zh, en string, args ...any) {
	fmt.Fprintf(p.w, text{zh, en}.in(p.lang)+"\n", args...)
}

func (p printer) list(hunts []*hunt) {
	chapter := ""
	for _, h := range hunts {
		if h.id[:2] != chapter {
			chapter = h.id[:2]
			p.say("\n第 %s 章", "\nChapter %s", chapter)
		}
		if p.lang == "zh" {
			fmt.Fprintf(p.w, "  %s  %s — %s\n", h.id, h.Title.ZH, h.Title.EN)
		} else {
			fmt.Fprintf(p.w, "  %s  %s — %s\n", h.id, h.Title.EN, h.Title.ZH)
		}
	}
	p.say("\n开始一个：make hunt H=%s（全部用法：go run ./internal/lab/hunts -h）",
		"\nBegin with one: make hunt H=%s (all there is to say: go run ./internal/lab/hunts -h)", hunts[0].id)
}

func (p printer) header(h *hunt) {
	fmt.Fprintf(p.w, "%s  %s\n\n%s\n\n", h.id, h.Title.in(p.lang), strings.TrimSpace(h.Symptom.in(p.lang)))
}

func (p printer) hint(h *hunt, n int) error {
	if n < 1 || n > len(h.Hints) {
		return fmt.Errorf("hunt %s has the hints 1 to %d", h.id, len(h.Hints))
	}
	p.say("提示 %d/%d：%s", "Hint %d of %d: %s", n, len(h.Hints), strings.TrimSpace(h.Hints[n-1].in(p.lang)))
	return nil
}

func (p printer) solution(h *hunt) {
	p.explanation(h)
	fmt.Fprintf(p.w, "\n%s", h.solution)
}

func (p printer) explanation(h *hunt) {
	fmt.Fprintln(p.w, strings.TrimSpace(h.Explanation.in(p.lang)))
	for _, link := range h.links() {
		fmt.Fprintln(p.w, link)
	}
}
