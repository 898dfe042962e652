package main

import (
	"fmt"
	"strings"
)

// colour of a chapter: strong is a fill under white text and a line, tint a fill
// under normal text.
type colour struct{ strong, tint string }

// palette is one of light and dark.
type palette struct {
	page, edge, ink, muted, line, faint string
	chapters                            [8]colour // 0: none, 7: full
}

var (
	light = palette{
		page: "#ffffff", edge: "#d0d7de", ink: "#1f2328", muted: "#59636e", line: "#6e7781", faint: "#f6f8fa",
		chapters: [8]colour{
			{"#57606a", "#f6f8fa"}, {"#8250df", "#f5efff"}, {"#8a5a00", "#fff6d8"}, {"#0e7490", "#e3f7fb"},
			{"#0969da", "#e4f2ff"}, {"#1a7f37", "#e3fbe8"}, {"#bc4c00", "#fff2e8"}, {"#a8327d", "#fdeef7"},
		},
	}
	dark = palette{
		page: "#0d1117", edge: "#30363d", ink: "#e6edf3", muted: "#9aa4af", line: "#8b949e", faint: "#161b22",
		chapters: [8]colour{
			{"#8b949e", "#161b22"}, {"#a67bf5", "#21163a"}, {"#d29a22", "#2b2005"}, {"#39b3cf", "#08262e"},
			{"#539bf5", "#0b2142"}, {"#3fb950", "#0b2814"}, {"#ec8e4c", "#321a06"}, {"#e275ba", "#331127"},
		},
	}
)

const fonts = `-apple-system,BlinkMacSystemFont,"Segoe UI","Noto Sans","PingFang SC","Hiragino Sans GB","Microsoft YaHei","Noto Sans CJK SC","Noto Sans SC","Source Han Sans SC",Helvetica,Arial,sans-serif`

const monoFonts = `ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono","PingFang SC","Microsoft YaHei","Noto Sans CJK SC",monospace`

// style of every figure: shapes once, colours once for light and once for dark.
func style() string {
	return `text{font:13px ` + fonts + `}
.b{font-weight:600}
.s{font-size:11px}
.xs{font-size:10px}
.m{font-family:` + monoFonts + `;font-size:11.5px}
.mid{text-anchor:middle}
.end{text-anchor:end}
.l{fill:none;stroke-width:1.5}
.dash{stroke-dasharray:4 3}
.badge{stroke-width:1.5}
` + light.css("") + "@media (prefers-color-scheme:dark){\n" + dark.css("#0d1117") + "}\n"
}

// css of the colours; onStrong is the ink on a strong fill.
func (p palette) css(onStrong string) string {
	if onStrong == "" {
		onStrong = "#ffffff"
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".page{fill:%s;stroke:%s}\n.ink{fill:%s}\n.muted{fill:%s}\n.on{fill:%s}\n", p.page, p.edge, p.ink, p.muted, onStrong)
	fmt.Fprintf(&b, ".badge{stroke:%s}\n.band{fill:%s}\n.grid{stroke:%s}\n", p.page, p.faint, p.edge)
	fmt.Fprintf(&b, ".line{stroke:%s}\n.head{fill:%[1]s}\n", p.line)
	fmt.Fprintf(&b, ".up{fill:%s;stroke:%s}\n", p.page, p.line)
	for i, c := range p.chapters {
		fmt.Fprintf(&b, ".t%d{fill:%s;stroke:%s}\n.f%[1]d{fill:%[3]s}\n.l%[1]d{stroke:%[3]s}\n", i, c.tint, c.strong)
	}
	return b.String()
}
