package main

import (
	"io/fs"

	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/seedmap"
	"github.com/informer-walkthrough/informer-walkthrough/internal/lab/upstream"
)

// world is what the pages lean on and is not a file of the repository that can
// simply be read. Tests of the rules put in a small one.
type world struct {
	resolve    func(ref string) (upstream.Symbol, error)
	changed    func(upstream.Use) []error // since the text was written
	seedTable  func(chapter, lang string) (string, error)
	benchTable func(filter, lang string) (string, error)
	mistakes   []string // ids of the article's mistakes and omissions
}

const lockFile = "docs/upstream.lock"

func theWorld(files fs.FS) (world, error) {
	lock, err := upstream.LoadLock(lockFile)
	if err != nil {
		return world{}, err
	}
	article, err := seedmap.Load()
	if err != nil {
		return world{}, err
	}
	return world{
		resolve:    upstream.Resolve,
		changed:    func(u upstream.Use) []error { return lock.Compare([]upstream.Use{u}) },
		seedTable:  article.Table,
		benchTable: benchTable(files),
		mistakes:   article.MistakeIDs(),
	}, nil
}
