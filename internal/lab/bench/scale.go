package main

import (
	"context"
	"fmt"
)

// point is one of the plot: what an event costs with so many objects and handlers.
type point struct {
	Objects  int     `json:"objects"`
	Handlers int     `json:"handlers"`
	Impl     string  `json:"impl"`
	Ns       float64 `json:"ns"`
}

// scale measures each point once: the plot is there for its slope.
func (b *binary) scale(ctx context.Context) ([]point, error) {
	var points []point
	measure := func(objects, handlers int) error {
		for _, impl := range three {
			m, err := b.measure(ctx, fmt.Sprintf("Scale/objects=%d/handlers=%d", objects, handlers), impl, scaleTimes)
			if err != nil {
				return err
			}
			points = append(points, point{objects, handlers, impl, m["ns/op"]})
		}
		progress("plot: %d objects, %d handlers", objects, handlers)
		return nil
	}
	for _, objects := range scaleObjects {
		if err := measure(objects, 1); err != nil {
			return nil, err
		}
	}
	for _, handlers := range scaleHandlers[1:] {
		if err := measure(objectsOfHandlers, handlers); err != nil {
			return nil, err
		}
	}
	return points, nil
}
