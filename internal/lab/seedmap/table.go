package seedmap

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/upstream"
)

var words = map[string]struct{ head, gone, upstream string }{
	"zh": {
		"| 文章（行） | 当年 | 今天 | 这里 | 说明 |\n|---|---|---|---|---|\n",
		"%s 起没有了", "用上游的",
	},
	"en": {
		"| article (line) | then | now | ours | note |\n|---|---|---|---|---|\n",
		"gone since %s", "upstream's",
	},
}

// Table is the rows of a chapter in Markdown. Links to this repository start from
// the chapter's folder and lead to files: lines move with every edit.
func (m *Map) Table(chapter, lang string) (string, error) {
	word, ok := words[lang]
	if !ok {
		return "", fmt.Errorf("language %q is neither zh nor en", lang)
	}
	folder, err := m.folder(chapter)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(word.head)
	for _, r := range m.Rows {
		if r.Chapter != chapter {
			continue
		}
		then, err := upstreamLinks(r.Then)
		if err != nil {
			return "", fmt.Errorf("%s: %w", r.where(), err)
		}
		now, err := upstreamLinks(r.Now)
		if err != nil {
			return "", fmt.Errorf("%s: %w", r.where(), err)
		}
		if r.Gone != "" {
			now = append([]string{fmt.Sprintf(word.gone, r.Gone)}, now...)
		}
		var ours []string
		for _, o := range r.Ours {
			ours = append(ours, m.oursLink(folder, o, word.upstream))
		}
		name, note := r.Name, r.EN
		if lang == "zh" {
			note = r.ZH
			if r.NameZH != "" {
				name = r.NameZH
			}
		}
		fmt.Fprintf(&b, "| %s (L%d) | %s | %s | %s | %s |\n", name, r.Line, cell(then), cell(now), cell(ours), note)
	}
	return b.String(), nil
}

func (m *Map) folder(chapter string) (string, error) {
	if chapter == "full" {
		return filepath.Join(m.root, chapter), nil
	}
	found, _ := filepath.Glob(filepath.Join(m.root, "chapters", chapter+"-*"))
	if !chapters.MatchString(chapter) || len(found) != 1 {
		return "", fmt.Errorf("%q is no chapter: say 01 to 06 or full", chapter)
	}
	return found[0], nil
}

func cell(lines []string) string { return strings.Join(lines, "<br>") }

// upstreamLinks names symbols; where a ref means a statement of one, with its line.
func upstreamLinks(refs []string) (links []string, err error) {
	for _, ref := range refs {
		s, err := upstream.Resolve(ref)
		if err != nil {
			return nil, err
		}
		_, label, _ := strings.Cut(ref, "#")
		if symbol, _, ok := strings.Cut(label, " /"); ok {
			label = fmt.Sprintf("%s:%d", symbol, s.Line)
		}
		links = append(links, fmt.Sprintf("[`%s`](%s)", label, s.URL))
	}
	return links, nil
}

func (m *Map) oursLink(folder, ours, upstreams string) string {
	if ours == Upstream {
		return upstreams
	}
	file, symbol, _ := strings.Cut(ours, "#")
	rel, err := filepath.Rel(folder, filepath.Join(m.root, filepath.FromSlash(file)))
	if err != nil {
		rel = file // both are below the root, so this can't be
	}
	return fmt.Sprintf("[`%s`](%s)", symbol, filepath.ToSlash(rel))
}
