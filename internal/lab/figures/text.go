package main

import (
	"fmt"
	"strings"
)

// lang is one of the two that every figure is drawn in.
type lang int

const (
	zh lang = iota
	en
)

var langs = []lang{zh, en}

func (l lang) tag() string { return [...]string{"zh-Hans", "en"}[l] }

// suffix of a figure's file.
func (l lang) suffix() string { return [...]string{".zh.svg", ".svg"}[l] }

// label is what people read, in both languages, by lines.
type label [2][]string

func parseLabel(s string) label {
	chinese, english, two := strings.Cut(s, " | ")
	if !two {
		english = chinese
	}
	lines := func(s string) []string {
		if s = strings.TrimSpace(s); s == "" {
			return nil
		}
		return strings.Split(s, `\n`)
	}
	return label{lines(chinese), lines(english)}
}

// width is about how wide a text is, a little on the safe side: nobody knows
// which font the reader has.
func width(s string, size float64, mono bool) float64 {
	sum := 0.0
	for _, r := range s {
		switch {
		case r >= 0x2e80:
			sum += 1
		case mono:
			sum += 0.61
		case strings.ContainsRune("iljtfrI.,:;'|!()[]/ ", r):
			sum += 0.36
		case strings.ContainsRune("mwMW—…→", r):
			sum += 0.9
		case r >= 'A' && r <= 'Z':
			sum += 0.68
		default:
			sum += 0.57
		}
	}
	return sum * size
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace

// num writes a coordinate.
func num(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.1f", f), "0"), ".")
}
