package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informer-walkthrough/informer-walkthrough/full/trace"
)

// chapterOf each layer.
var chapterOf = map[trace.Layer]int{
	trace.Reflector: 4, trace.DeltaFIFO: 4, trace.HandleDeltas: 5, trace.Indexer: 5, trace.Processor: 5,
	trace.Kind: 2, trace.Workqueue: 6, trace.Reconcile: 0,
}

// The measures of a trace's picture.
const (
	laneLeft  = 208.0 // where the first lane begins
	laneWidth = 96.0
	top       = 52.0
	rowHeight = 46.0
	noteLine  = 17.0
	chipW     = 87.0
	chipH     = 34.0
)

// draw makes the picture of a recording in one language.
func (t *traceFigure) draw(title, desc label, recorded []*row, l lang) (string, error) {
	w := laneLeft + laneWidth*float64(len(trace.Layers)) + 8
	notes := map[*row][]string{}
	h := top
	for _, r := range recorded {
		if r.note[l] == nil {
			h += rowHeight
			continue
		}
		notes[r] = wrap(r.note[l][0], w-110, 13)
		h += noteLine*float64(len(notes[r])) + 13
	}
	h += 34
	s := newSVG(w, h, l, strings.Join(title[l], " "), strings.Join(desc[l], " "))
	t.lanes(s, h-30)
	y := top
	for _, r := range recorded {
		if lines := notes[r]; lines != nil {
			high := noteLine*float64(len(lines)) + 7
			s.rect(8, y+2, w-16, high, 4, "t0")
			s.text(62, y+2+high/2, "muted s m end", clock(r.at))
			for i, line := range lines {
				s.text(74, y+2+high/2+(float64(i)-float64(len(lines)-1)/2)*noteLine, "ink", line)
			}
			y += high + 6
			continue
		}
		s.row(r, y+rowHeight/2, l)
		y += rowHeight
	}
	s.text(14, h-15, "muted s", [...]string{
		"取自一次真实运行的记录。左边：从故事开始算起；方块里：动作，以及这个状态进入第一层之后过了多久。",
		"From the recording of a real run. Left: since the story began; in the boxes: what happens, and how long after this state had entered the first layer.",
	}[l])
	if len(s.problems) > 0 {
		return "", fmt.Errorf("%s", strings.Join(s.problems, "\n"))
	}
	return s.done(), nil
}

func (t *traceFigure) lanes(s *svg, bottom float64) {
	for i, layer := range trace.Layers {
		n := chapterOf[layer]
		x := laneLeft + laneWidth*float64(i)
		if slices.Contains(t.lit, string(layer)) {
			s.put(`<rect class="t%d" style="stroke:none" x="%s" y="40" width="%s" height="%s"/>`, n, num(x+1), num(laneWidth-2), num(bottom-40))
			s.rect(x+1, 12, laneWidth-2, 28, 5, fmt.Sprintf("f%d l%[1]d", n))
			s.text(x+laneWidth/2, 26, "on b mid lane", string(layer))
		} else {
			s.rect(x+1, 12, laneWidth-2, 28, 5, fmt.Sprintf("t%d", n))
			s.text(x+laneWidth/2, 26, "ink b mid lane", string(layer))
		}
		s.put(`<path class="l grid" style="stroke-width:1" d="M%s 41V%s"/>`, num(x+laneWidth/2), num(bottom))
	}
}

func (s *svg) row(r *row, y float64, l lang) {
	first := r.steps[0]
	s.text(62, y-8, "muted s m end", clock(r.at))
	if first.Kind == "-" {
		s.text(74, y-8, "ink m b", shorten(first.Key))
		s.text(74, y+9, "muted s", [...]string{"只有 request，没有事件", "a request, no event"}[l])
	} else {
		s.text(74, y-8, "ink m b", shorten(first.Key))
		s.text(74, y+9, "muted s", first.Kind+" · rv "+first.ResourceVersion)
	}
	x := func(e trace.Event) float64 { return laneLeft + laneWidth*(float64(place(e.Layer))+0.5) }
	for i, e := range r.steps[1:] {
		if from, to := x(r.steps[i]), x(e); from != to {
			s.path([]point{{from + chipW/2, y}, {to - chipW/2, y}}, "line", "")
			s.head(point{from, y}, point{to - chipW/2 + 1, y}, "head")
		}
	}
	for i := 0; i < len(r.steps); i++ {
		e := r.steps[i]
		n := chapterOf[e.Layer]
		paint, upper := fmt.Sprintf("t%d", n), "ink b s mid"
		lines := []string{e.Verb, since(e.Since)}
		if e.Layer == trace.Workqueue && e.Request != "" {
			lines = []string{e.Verb, "→ " + e.Request}
		}
		if i+1 < len(r.steps) && r.steps[i+1].Layer == e.Layer { // the end of a reconciliation
			i++
			lines = []string{"Start " + since(e.Since), r.steps[i].Verb + " " + since(r.steps[i].Since)}
			if r.steps[i].Verb == "RequeueAfter" {
				lines = []string{"Start " + since(e.Since), "RequeueAfter"}
			}
			if r.steps[i].Verb == "Error" {
				paint = "f6 l6"
				upper = "on b s mid"
			}
		}
		lower := strings.Replace(upper, " b", "", 1)
		s.rect(x(e)-chipW/2, y-chipH/2, chipW, chipH, 5, paint)
		for j, line := range lines {
			classes := []string{upper, lower}[j]
			switch w := width(line, 11, false); {
			case w > chipW:
				s.problem("%q is too wide for its box in the lane %s", line, e.Layer)
			case w > chipW-8:
				classes = lower + " xs"
			}
			s.text(x(e), y-7+15*float64(j), classes, line)
		}
	}
}

// shorten keeps the end of a long name.
func shorten(key string) string {
	const most = 19
	if r := []rune(key); len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return key
}

func clock(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.2f s", float64(d)/1e9)
}

func since(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return "0"
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", float64(d)/1e3)
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", float64(d)/1e6)
	default:
		return fmt.Sprintf("%.2f s", float64(d)/1e9)
	}
}

// wrap breaks a text into lines, at spaces or between Chinese characters.
func wrap(s string, most, size float64) []string {
	var lines []string
	line, cut := "", 0 // cut is the last place of line where it may break
	for _, r := range s {
		if r == ' ' || r >= 0x2e80 && !strings.ContainsRune("，。；：、）", r) {
			cut = len(line)
		}
		line += string(r)
		if width(line, size, false) > most && cut > 0 {
			lines = append(lines, strings.TrimSpace(line[:cut]))
			line, cut = line[cut:], 0
		}
	}
	return append(lines, strings.TrimSpace(line))
}
