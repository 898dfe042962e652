package main

// check applies every rule.
func (b *book) check() []problem {
	problems := b.checkComplete()
	for _, p := range b.pages {
		problems = append(problems, b.stale(p)...)
		problems = append(problems, p.checkIDs()...)
		problems = append(problems, p.checkChapter()...)
		problems = append(problems, b.checkFences(p)...)
		problems = append(problems, b.checkTests(p)...)
		problems = append(problems, b.checkLinks(p)...)
		problems = append(problems, b.checkVersions(p)...)
		problems = append(problems, p.checkFigures()...)
		problems = append(problems, p.checkQuestions()...)
		problems = append(problems, p.checkWords()...)
	}
	b.pairs(func(zh, en *page) {
		problems = append(problems, checkSameHeadings(zh, en)...)
		problems = append(problems, checkSameBlocks(zh, en)...)
		problems = append(problems, checkSameThings(zh, en)...)
		problems = append(problems, checkStamps(zh, en)...)
	})
	problems = append(problems, b.checkLock()...)
	problems = append(problems, b.checkTells()...)
	problems = append(problems, b.checkHunts()...)
	problems = append(problems, b.checkRuns()...)
	return sorted(problems)
}
