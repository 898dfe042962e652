package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// options are what the reader wants; their meanings are those of the flags.
type options struct {
	hunt     string
	hint     int
	check    string
	solution bool
	verify   bool
}

func (o options) run(ctx context.Context, w io.Writer, l language) error {
	hunts, err := load()
	if err != nil {
		return err
	}
	if o.hunt != "" {
		if hunts, err = only(o.hunt, hunts); err != nil {
			return err
		}
	}
	if o.verify {
		return verifyAll(ctx, w, hunts)
	}
	p := printer{w: w, lang: l}
	if o.hunt == "" {
		if o.hint != 0 || o.check != "" || o.solution {
			return errors.New("say which hunt: H=05-2")
		}
		p.list(hunts)
		return nil
	}
	h := hunts[0]
	switch {
	case o.check != "":
		return h.check(ctx, p, o.check)
	case o.solution:
		p.solution(h)
		return nil
	case o.hint != 0:
		return p.hint(h, o.hint)
	}
	return h.show(ctx, p)
}

func only(id string, hunts []*hunt) ([]*hunt, error) {
	for _, h := range hunts {
		if h.id == id {
			return []*hunt{h}, nil
		}
	}
	return nil, fmt.Errorf("there is no hunt %q: `make hunt` lists them", id)
}
