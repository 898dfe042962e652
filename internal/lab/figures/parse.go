package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// figure is what one docs/figures/NAME.txt says.
type figure struct {
	title, desc label
	w, h        float64
	boxes       []*box
	arrows      []arrow
	texts       []text
	legend      *point
	trace       *traceFigure // then there are no boxes
}

type traceFigure struct {
	name        string
	lit         []string
	skip, until *regexp.Regexp
}

// styles are the words between the coordinates and the label.
type styles []string

func (s styles) has(word string) bool {
	for _, w := range s {
		if w == word {
			return true
		}
	}
	return false
}

// chapter is 1 to 6, 7 for full, 0 for none.
func (s styles) chapter() int {
	for _, w := range s {
		if w == "full" {
			return full
		}
		if n, found := strings.CutPrefix(w, "ch"); found && len(n) == 1 {
			return int(n[0] - '0')
		}
	}
	return 0
}

const full = 7

type box struct {
	name       string
	x, y, w, h float64
	styles     styles
	label      label
}

type arrow struct {
	from, to end
	styles   styles
	via      []point
	at       *point
	label    label
}

// end of an arrow: a point, and the way out of the box there.
type end struct {
	point
	side byte
}

type text struct {
	point
	styles styles
	label  label
}

func parse(source string) (*figure, error) {
	f := &figure{}
	n := 0
	for line := range strings.Lines(source) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := f.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	switch {
	case f.title[en] == nil || f.desc[en] == nil:
		return nil, fmt.Errorf("title or desc is missing: people who do not see the picture need them")
	case f.trace == nil && f.w == 0:
		return nil, fmt.Errorf("size is missing: say for example size 900x400")
	}
	return f, nil
}

func (f *figure) line(line string) error {
	said, shown, _ := strings.Cut(line+" ", " : ")
	words := strings.Fields(said)
	l := parseLabel(shown)
	command, words := words[0], words[1:]
	switch command {
	case "title":
		f.title = l
	case "desc":
		f.desc = l
	case "trace", "lit", "skip", "until":
		return f.traceLine(command, words)
	case "size":
		return f.pair(words, "x", &f.w, &f.h)
	case "legend":
		f.legend = &point{}
		return f.pair(words, ",", &f.legend.x, &f.legend.y)
	case "text":
		t := text{label: l}
		if err := f.pair(words, ",", &t.x, &t.y); err != nil {
			return err
		}
		t.styles = words[1:]
		f.texts = append(f.texts, t)
	case "box":
		return f.box(words, l)
	case "arrow":
		return f.arrow(words, l)
	default:
		return fmt.Errorf("there is no command %q: see the documentation of internal/lab/figures", command)
	}
	return nil
}

func (f *figure) pair(words []string, separator string, a, b *float64) error {
	if len(words) == 0 {
		return fmt.Errorf("two numbers are missing: write them as 1%s2", separator)
	}
	x, y, _ := strings.Cut(words[0], separator)
	var errA, errB error
	*a, errA = strconv.ParseFloat(x, 64)
	*b, errB = strconv.ParseFloat(y, 64)
	if errA != nil || errB != nil {
		return fmt.Errorf("%q is not two numbers: write them as 1%s2", words[0], separator)
	}
	return nil
}

func (f *figure) traceLine(command string, words []string) error {
	if f.trace == nil {
		f.trace = &traceFigure{}
	}
	if command == "lit" {
		f.trace.lit = words
		return nil
	}
	if len(words) != 1 {
		return fmt.Errorf("%s takes one word", command)
	}
	if command == "trace" {
		f.trace.name = words[0]
		return nil
	}
	expression, err := regexp.Compile(words[0])
	if command == "skip" {
		f.trace.skip = expression
	} else {
		f.trace.until = expression
	}
	return err
}

func (f *figure) box(words []string, l label) error {
	if len(words) < 3 {
		return fmt.Errorf("a box needs a name, X,Y and WxH")
	}
	b := &box{name: words[0], styles: words[3:], label: l}
	if err := f.pair(words[1:], ",", &b.x, &b.y); err != nil {
		return err
	}
	f.boxes = append(f.boxes, b)
	return f.pair(words[2:], "x", &b.w, &b.h)
}

func (f *figure) arrow(words []string, l label) error {
	if len(words) < 2 {
		return fmt.Errorf("an arrow needs two ends, such as queue.e worker.w")
	}
	a := arrow{label: l}
	var err error
	if a.from, err = f.end(words[0]); err != nil {
		return err
	}
	if a.to, err = f.end(words[1]); err != nil {
		return err
	}
	to := &a.via
	for _, w := range words[2:] {
		var p point
		switch {
		case w == "via":
			to = &a.via
		case w == "at":
			to = nil
		case !strings.Contains(w, ","):
			a.styles = append(a.styles, w)
		default:
			if err := f.pair([]string{w}, ",", &p.x, &p.y); err != nil {
				return err
			}
			if to == nil {
				a.at = &p
			} else {
				a.via = append(a.via, p)
			}
		}
	}
	f.arrows = append(f.arrows, a)
	return nil
}

var endFormat = regexp.MustCompile(`^([a-zA-Z0-9]+)\.([nesw])([+-][0-9]+)?$`)

func (f *figure) end(word string) (end, error) {
	m := endFormat.FindStringSubmatch(word)
	if m == nil {
		return end{}, fmt.Errorf("%q is no end of an arrow: write a box and a side, such as queue.e or queue.n-20", word)
	}
	moved, _ := strconv.ParseFloat(m[3], 64)
	for _, b := range f.boxes {
		if b.name != m[1] {
			continue
		}
		middle := point{b.x + b.w/2, b.y + b.h/2}
		switch side := m[2][0]; side {
		case 'n':
			return end{point{middle.x + moved, b.y}, side}, nil
		case 's':
			return end{point{middle.x + moved, b.y + b.h}, side}, nil
		case 'w':
			return end{point{b.x, middle.y + moved}, side}, nil
		default:
			return end{point{b.x + b.w, middle.y + moved}, side}, nil
		}
	}
	return end{}, fmt.Errorf("there is no box %q above this line", m[1])
}
