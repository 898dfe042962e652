package main

import (
	"fmt"
	"strconv"
	"strings"
)

// whose a layer is when a chapter is read.
type whose int

const (
	ours whose = iota
	lit
	upstreams
)

// seenFrom says whose the layers of a chapter are in the map of another; 0 is the
// map of the landing page.
func seenFrom(reading, layer int) whose {
	switch {
	case reading == 0 || layer == 0 || layer < reading:
		return ours
	case layer == reading:
		return lit
	default:
		return upstreams
	}
}

// draw makes the picture in one language; reading is the chapter whose map it is,
// 0 if it is no chapter's map.
func (f *figure) draw(l lang, reading int) (string, error) {
	s := newSVG(f.w, f.h, l, strings.Join(f.title[l], " "), strings.Join(f.desc[l], " "))
	for _, b := range f.boxes {
		if b.styles.has("frame") {
			s.frame(b, l, reading)
		}
	}
	for _, a := range f.arrows {
		s.arrow(a)
	}
	for _, b := range f.boxes {
		if !b.styles.has("frame") {
			s.box(b, l, reading)
		}
	}
	for _, a := range f.arrows {
		s.arrowLabel(a, l)
	}
	for _, t := range f.texts {
		for i, line := range t.label[l] {
			s.text(t.x, t.y+float64(i)*16, textClasses(t.styles), line)
		}
	}
	if f.legend != nil {
		s.legend(*f.legend, l, reading)
	}
	if len(s.problems) > 0 {
		return "", fmt.Errorf("%s", strings.Join(s.problems, "\n"))
	}
	return s.done(), nil
}

func textClasses(st styles) string {
	classes := []string{"ink"}
	if st.has("muted") {
		classes[0] = "muted"
	}
	if n := st.chapter(); n > 0 {
		classes[0] = "f" + strconv.Itoa(n)
	}
	for _, pair := range [][2]string{{"middle", "mid"}, {"end", "end"}, {"bold", "b"}, {"small", "s"}, {"mono", "m"}} {
		if st.has(pair[0]) {
			classes = append(classes, pair[1])
		}
	}
	return strings.Join(classes, " ")
}

// look is how a box of that chapter is painted: its fill and line, and the ink of
// its first line and of the others.
func look(b *box, reading int) (paint, first, others string) {
	n := b.styles.chapter()
	state := seenFrom(reading, n)
	if b.styles.has("lit") {
		state = lit
	}
	switch {
	case b.styles.has("ghost"), state == upstreams:
		return "up dash", "muted", "muted"
	case state == lit && !b.styles.has("frame"):
		return fmt.Sprintf("f%d l%[1]d", n), "on", "on"
	default:
		return fmt.Sprintf("t%d", n), "ink", "muted"
	}
}

func (s *svg) frame(b *box, l lang, reading int) {
	n := b.styles.chapter()
	state := seenFrom(reading, n)
	classes, ink := fmt.Sprintf("l l%d", n), fmt.Sprintf("f%d", n)
	switch {
	case state == upstreams || b.styles.has("ghost"):
		classes, ink = "l line dash", "muted"
	case state == lit && (n > 0 && reading > 0 || b.styles.has("lit")):
		s.put(`<rect class="t%d" style="stroke-width:3" x="%s" y="%s" width="%s" height="%s" rx="8"/>`, n, num(b.x), num(b.y), num(b.w), num(b.h))
		classes = ""
	}
	if classes != "" {
		s.rect(b.x, b.y, b.w, b.h, 8, classes)
	}
	x := b.x + 12
	if n > 0 && !b.styles.has("bare") {
		x = b.x + 30
		if n == full {
			x += 18
		}
		s.badge(point{(b.x + x + 2) / 2, b.y + 15}, n, state)
	}
	for i, line := range b.label[l] {
		class := ink + " b"
		if i > 0 {
			class = "muted s"
		}
		s.text(x, b.y+15, class, line)
		x += width(line, 13, false)*1.06 + 10
	}
}

func (s *svg) box(b *box, l lang, reading int) {
	paint, first, others := look(b, reading)
	r := 5.0
	if b.styles.has("round") {
		r = b.h / 2
	}
	s.rect(b.x, b.y, b.w, b.h, r, paint)
	if b.styles.has("store") { // the lid of a drawer
		s.put(`<path class="l %s" d="M%s %sh%s"/>`, strings.Replace(strings.Fields(paint)[0], "t", "l", 1)+" dash", num(b.x), num(b.y+5), num(b.w))
	}
	if b.styles.has("plank") {
		for _, nail := range []point{{b.x + 7, b.y + b.h - 7}, {b.x + b.w - 7, b.y + b.h - 7}, {b.x + b.w - 7, b.y + 7}} {
			s.put(`<circle class="%s" style="opacity:.4" cx="%s" cy="%s" r="1.6"/>`, others, num(nail.x), num(nail.y))
		}
	}
	lines := b.label[l]
	y := b.y + b.h/2 - float64(len(lines)-1)*8
	for i, line := range lines {
		classes, size, mono := first+" b mid", 13.0, false
		if b.styles.has("mono") {
			classes, size, mono = first+" m mid", 11.5, true
		}
		if b.styles.has("normal") {
			classes = first + " mid"
		}
		if i > 0 {
			classes, size, mono = others+" s mid", 11, false
		}
		if w := width(line, size, mono); w > b.w-6 {
			s.problem("the label %q is too wide for box %s: it needs about %.0f pixels and has %.0f", line, b.name, w, b.w-6)
		}
		s.text(b.x+b.w/2, y+float64(i)*16, classes, line)
	}
	if n := b.styles.chapter(); n > 0 && b.styles.has("plank") {
		s.badge(point{b.x + 4, b.y + 1}, n, seenFrom(reading, n))
	}
}

// badge is the number of a chapter.
func (s *svg) badge(p point, n int, w whose) {
	fill, ink := fmt.Sprintf("f%d", n), "on"
	if w == upstreams {
		fill, ink = "muted", "on"
	}
	said, half := strconv.Itoa(n), 9.0
	if n == full {
		said, half = "full", 16
	}
	s.rect(p.x-half, p.y-9, 2*half, 18, 9, fill+" badge")
	s.text(p.x, p.y, ink+" s b mid", said)
}

func (a arrow) points() []point {
	points := append([]point{a.from.point}, a.via...)
	points = append(points, a.to.point)
	if len(a.via) > 0 {
		return points
	}
	f, t := a.from, a.to
	flat := func(e end) bool { return e.side == 'e' || e.side == 'w' }
	switch {
	case f.x == t.x || f.y == t.y:
		return points
	case flat(f) && flat(t):
		middle := (f.x + t.x) / 2
		return []point{f.point, {middle, f.y}, {middle, t.y}, t.point}
	case !flat(f) && !flat(t):
		middle := (f.y + t.y) / 2
		return []point{f.point, {f.x, middle}, {t.x, middle}, t.point}
	case flat(f):
		return []point{f.point, {t.x, f.y}, t.point}
	default:
		return []point{f.point, {f.x, t.y}, t.point}
	}
}

func (s *svg) arrow(a arrow) {
	line, head := "line", "head"
	if n := a.styles.chapter(); n > 0 {
		line, head = fmt.Sprintf("l%d", n), fmt.Sprintf("f%d", n)
	}
	if a.styles.has("dashed") {
		line += " dash"
	}
	points := a.points()
	if a.styles.has("plainline") {
		head = ""
	}
	s.path(points, line, head)
	if a.styles.has("both") {
		s.head(points[1], points[0], head)
	}
}

func (s *svg) arrowLabel(a arrow, l lang) {
	lines := a.label[l]
	if len(lines) == 0 {
		return
	}
	points := a.points()
	longest := 0
	for i := range points[1:] {
		if distance(points[i], points[i+1]) > distance(points[longest], points[longest+1]) {
			longest = i
		}
	}
	p, q := points[longest], points[longest+1]
	x, y, classes := (p.x+q.x)/2, (p.y+q.y)/2, "ink s mid"
	switch {
	case a.at != nil:
		x, y = a.at.x, a.at.y
	case p.x == q.x: // beside it
		x, classes = x+8, "ink s"
		y -= float64(len(lines)-1) * 7
	default: // above it
		y -= 10 + float64(len(lines)-1)*14
	}
	if a.styles.has("muted") {
		classes = strings.Replace(classes, "ink", "muted", 1)
	}
	for i, line := range lines {
		s.text(x, y+float64(i)*14, classes, line)
	}
}

// legend says what the colours of a chapter's map mean.
func (s *svg) legend(p point, l lang, reading int) {
	all := [][2]string{{"这一章", "this chapter"}, {"前几章换好的", "ours already"}, {"还是上游的", "still upstream's"}}
	paints := []string{fmt.Sprintf("f%d l%[1]d", reading), "t0", "up dash"}
	if reading == 0 {
		s.text(p.x, p.y, "muted s", [...]string{"编号：这一块在第几章换成我们自己的", "The number: in which chapter this plank is replaced by our own"}[l])
		return
	}
	for i, said := range all {
		if i == 1 && reading == 1 || i == 2 && reading == full {
			continue
		}
		s.rect(p.x, p.y-7, 24, 14, 3, paints[i])
		s.text(p.x+32, p.y, "muted s", said[l])
		p.x += 62 + width(said[l], 11, false)
	}
}
