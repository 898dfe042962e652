package main

import (
	"bytes"
	"fmt"
	"math"
)

// plot draws the points in two panels: by objects with 1 handler, and by handlers.
// Both axes are logarithmic. Colours follow the reader's light or dark mode.
func plot(points []point) []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 380" font-family="sans-serif" font-size="12" role="img">
<title>Cost of one watch event by the number of objects, and by the number of handlers</title>
<style>
svg { background: #fff; color: #24292f; --a: #b35900; --b: #0969da; --c: #1a7f37; --grid: #d8dee4 }
@media (prefers-color-scheme: dark) { svg { background: #0d1117; color: #e6edf3; --a: #f0883e; --b: #58a6ff; --c: #56d364; --grid: #30363d } }
text { fill: currentColor }
.grid { stroke: var(--grid) }
polyline { fill: none; stroke-width: 2 }
.upstream { stroke: var(--a); fill: var(--a) } .chapters { stroke: var(--b); fill: var(--b) } .chapters-inorder { stroke: var(--c); fill: var(--c) }
polyline.upstream, polyline.chapters, polyline.chapters-inorder { fill: none }
text.upstream, text.chapters, text.chapters-inorder { stroke: none }
</style>
`)
	low, high := math.Inf(1), 0.0
	for _, p := range points {
		low, high = min(low, p.Ns), max(high, p.Ns)
	}
	y := axis{from: decade(low, math.Floor), to: decade(high, math.Ceil), start: 320, end: 50}
	byObjects := panel{title: "objects (1 handler)", x: axis{from: float64(scaleObjects[0]), to: float64(scaleObjects[len(scaleObjects)-1]), start: 70, end: 400}, y: y, ticks: scaleObjects}
	byHandlers := panel{title: fmt.Sprintf("handlers (%s objects)", count(objectsOfHandlers)), x: axis{from: 1, to: float64(scaleHandlers[len(scaleHandlers)-1]), start: 490, end: 820}, y: y, ticks: scaleHandlers}
	byObjects.grid(&b)
	byHandlers.grid(&b)
	for i, impl := range three {
		byObjects.curve(&b, impl, points, func(p point) (int, bool) { return p.Objects, p.Handlers == 1 })
		byHandlers.curve(&b, impl, points, func(p point) (int, bool) { return p.Handlers, p.Objects == objectsOfHandlers })
		name := map[string]string{upstream: "client-go", chapters: "ours, DeltaFIFO", inOrder: "ours, in-order queue"}[impl]
		fmt.Fprintf(&b, "<text class=%q x=\"%d\" y=\"22\">● %s</text>\n", impl, 70+i*150, name)
	}
	fmt.Fprint(&b, "<text x=\"560\" y=\"22\">time per event, watch to every handler</text>\n</svg>\n")
	return b.Bytes()
}

// axis maps values between from and to, by their logarithm, to places between start and end.
type axis struct{ from, to, start, end float64 }

func (a axis) at(v float64) float64 {
	return a.start + (a.end-a.start)*math.Log(v/a.from)/math.Log(a.to/a.from)
}

type panel struct {
	title string
	x, y  axis
	ticks []int
}

func (p panel) grid(b *bytes.Buffer) {
	for v := p.y.from; v <= p.y.to*1.01; v *= 10 {
		fmt.Fprintf(b, "<line class=\"grid\" x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>", p.x.start, p.x.end, p.y.at(v), p.y.at(v))
		fmt.Fprintf(b, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", p.x.start-8, p.y.at(v)+4, duration(v))
	}
	for _, tick := range p.ticks {
		x := p.x.at(float64(tick))
		fmt.Fprintf(b, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\" y2=\"%.0f\"/>", x, x, p.y.start, p.y.end)
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n", x, p.y.start+18, count(tick))
	}
	fmt.Fprintf(b, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n", (p.x.start+p.x.end)/2, p.y.start+42, p.title)
}

// curve connects the points of one implementation for which x says yes.
func (p panel) curve(b *bytes.Buffer, impl string, points []point, x func(point) (int, bool)) {
	var places, dots bytes.Buffer
	for _, pt := range points {
		v, ok := x(pt)
		if !ok || pt.Impl != impl {
			continue
		}
		cx, cy := p.x.at(float64(v)), p.y.at(pt.Ns)
		fmt.Fprintf(&places, "%.1f,%.1f ", cx, cy)
		fmt.Fprintf(&dots, "<circle class=%q cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s</title></circle>\n", impl, cx, cy, duration(pt.Ns))
	}
	fmt.Fprintf(b, "<polyline class=%q points=%q/>\n%s", impl, bytes.TrimSpace(places.Bytes()), dots.Bytes())
}

// decade rounds to a power of ten.
func decade(v float64, round func(float64) float64) float64 {
	return math.Pow(10, round(math.Log10(v)))
}

func duration(ns float64) string {
	if ns < 1000 {
		return fmt.Sprintf("%.3g ns", ns)
	}
	return fmt.Sprintf("%.3g µs", ns/1000)
}

func count(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%d M", n/1_000_000)
	case n >= 1000:
		return fmt.Sprintf("%d k", n/1000)
	}
	return fmt.Sprint(n)
}
