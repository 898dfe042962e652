package main

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	makeTarget = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	quoted     = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	barePipe   = regexp.MustCompile(`[^\s|]+\|[^\s|]+`)
	goVerbs    = []string{"test", "run", "build", "vet"}
)

// checkCommand says what a reader who types this line would stumble over: make
// targets, packages and tests that don't exist.
func (b *book) checkCommand(line string) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, command := range commandsOf([]string{line}) {
		if pipe := barePipe.FindString(quoted.ReplaceAllString(command, "")); pipe != "" {
			say("quotes around %s: a shell takes | for a pipe", pipe)
		}
		words := words(command)
		for i, word := range words {
			rest := words[i+1:]
			switch {
			case word == "make" && (i == 0 || isOperator(words[i-1]) || strings.Contains(words[i-1], "=")):
				for _, target := range rest {
					if isOperator(target) {
						break
					}
					if !strings.HasPrefix(target, "-") && !strings.Contains(target, "=") && !b.hasTarget(target) {
						say("the Makefile has no target %s", target)
					}
				}
			case word == "go" && len(rest) > 1 && slices.Contains(goVerbs, rest[0]):
				b.checkGo(rest[1:], say)
			}
		}
	}
	return wrong
}

func (b *book) checkGo(args []string, say func(string, ...any)) {
	if end := slices.IndexFunc(args, isOperator); end >= 0 {
		args = args[:end]
	}
	var folders []string
	run := ""
	for i, arg := range args {
		switch {
		case strings.HasPrefix(arg, "./"):
			folder := path.Clean(strings.TrimSuffix(arg, "..."))
			folders = append(folders, arg)
			if !b.exists(folder) {
				say("there is no package %s", arg)
			}
		case strings.HasPrefix(arg, "-run="), strings.HasPrefix(arg, "-bench="):
			_, run, _ = strings.Cut(arg, "=")
		case (arg == "-run" || arg == "-bench") && i+1 < len(args):
			run = args[i+1]
		}
	}
	if run == "" || run == "^$" || run == "NONE" || len(folders) == 0 {
		return
	}
	top, _, _ := strings.Cut(run, "/")
	re, err := regexp.Compile(top)
	if err != nil {
		say("-run %s: %v", run, err)
		return
	}
	for folder, names := range b.tests {
		if slices.ContainsFunc(folders, func(f string) bool { return within(folder, f) }) && slices.ContainsFunc(names, re.MatchString) {
			return
		}
	}
	say("no test of %s matches %s", strings.Join(folders, " "), run)
}

// within says whether a folder is what a pattern of packages (./a, ./a/...) means.
func within(folder, pattern string) bool {
	root := path.Clean(strings.TrimSuffix(pattern, "..."))
	if folder == root {
		return true
	}
	return strings.HasSuffix(pattern, "...") && (root == "." || strings.HasPrefix(folder, root+"/"))
}

func (b *book) hasTarget(name string) bool {
	makefile, _ := fs.ReadFile(b.files, "Makefile")
	for _, m := range makeTarget.FindAllSubmatch(makefile, -1) {
		if string(m[1]) == name {
			return true
		}
	}
	return false
}

func isOperator(word string) bool { return slices.Contains([]string{"&&", "||", ";", "|", "&"}, word) }

var shellWord = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)

// words cuts a command as a shell would, as far as texts need it.
func words(command string) (all []string) {
	end := -1
	for _, at := range shellWord.FindAllStringIndex(command, -1) {
		word := strings.Trim(command[at[0]:at[1]], `'"`)
		if at[0] == end {
			all[len(all)-1] += word
		} else {
			all = append(all, word)
		}
		end = at[1]
	}
	return all
}
