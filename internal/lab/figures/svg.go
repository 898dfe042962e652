package main

import (
	"fmt"
	"math"
	"strings"
)

// svg is a picture that is being drawn.
type svg struct {
	strings.Builder
	w, h float64
	// problems are texts that do not fit.
	problems []string
}

type point struct{ x, y float64 }

func newSVG(w, h float64, l lang, title, desc string) *svg {
	s := &svg{w: w, h: h}
	s.put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%[1]s" height="%[2]s" role="img" xml:lang="%s" lang="%[3]s" aria-labelledby="t d">`,
		num(w), num(h), l.tag())
	s.put(`<title id="t">%s</title>`, escape(title))
	s.put(`<desc id="d">%s</desc>`, escape(desc))
	s.put("<style>\n%s</style>", style())
	s.put(`<rect class="page" x="0.5" y="0.5" width="%s" height="%s" rx="8"/>`, num(w-1), num(h-1))
	return s
}

func (s *svg) put(format string, args ...any) {
	fmt.Fprintf(s, format, args...)
	s.WriteByte('\n')
}

func (s *svg) done() string {
	return s.String() + "</svg>\n"
}

func (s *svg) problem(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// text writes one line; y is its middle. Classes are those of style.
func (s *svg) text(x, y float64, classes, text string) {
	size, mono := 13.0, false
	for _, c := range strings.Fields(classes) {
		switch c {
		case "s":
			size = 11
		case "m":
			size, mono = 11.5, true
		}
	}
	w := width(text, size, mono)
	left := x
	if strings.Contains(classes, "mid") {
		left -= w / 2
	} else if strings.Contains(classes, "end") {
		left -= w
	}
	if left < 2 || left+w > s.w-2 || y < 4 || y > s.h-4 {
		s.problem("the text %q leaves the picture: it needs about %.0f pixels at %.0f,%.0f", text, w, left, y)
	}
	s.put(`<text class="%s" x="%s" y="%s">%s</text>`, classes, num(x), num(y+size*0.36), escape(text))
}

func (s *svg) rect(x, y, w, h, r float64, classes string) {
	s.put(`<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="%s"/>`, classes, num(x), num(y), num(w), num(h), num(r))
}

// path draws legs with round corners, and a head at the end.
func (s *svg) path(points []point, classes, head string) {
	const radius = 7
	var d strings.Builder
	fmt.Fprintf(&d, "M%s %s", num(points[0].x), num(points[0].y))
	last := len(points) - 1
	for i := 1; i < last; i++ {
		a, b, c := points[i-1], points[i], points[i+1]
		r := min(radius, distance(a, b)/2, distance(b, c)/2)
		in, out := towards(b, a, r), towards(b, c, r)
		fmt.Fprintf(&d, "L%s %sQ%s %s %s %s", num(in.x), num(in.y), num(b.x), num(b.y), num(out.x), num(out.y))
	}
	tip := points[last]
	end := tip
	if head != "" {
		end = towards(tip, points[last-1], 5)
	}
	fmt.Fprintf(&d, "L%s %s", num(end.x), num(end.y))
	s.put(`<path class="l %s" d="%s"/>`, classes, d.String())
	if head != "" {
		s.head(points[last-1], tip, head)
	}
}

func (s *svg) head(from, tip point, classes string) {
	back := towards(tip, from, 8)
	dx, dy := (tip.y-back.y)*0.5, (back.x-tip.x)*0.5
	s.put(`<path class="%s" d="M%s %sL%s %sL%s %sZ"/>`, classes,
		num(tip.x), num(tip.y), num(back.x+dx), num(back.y+dy), num(back.x-dx), num(back.y-dy))
}

func distance(a, b point) float64 { return math.Hypot(a.x-b.x, a.y-b.y) }

// towards is the point r away from a on the way to b.
func towards(a, b point, r float64) point {
	d := distance(a, b)
	if d == 0 {
		return a
	}
	return point{a.x + (b.x-a.x)*r/d, a.y + (b.y-a.y)*r/d}
}
