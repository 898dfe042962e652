package main

const usage = `book keeps the texts true. Call it from anywhere in the repository; FILE starts at the root.

  go run ./internal/lab/book [FILE…]          check all pages, or tell only of those named:
                                              file:line: what is wrong, what to do; exit 1
  go run ./internal/lab/book -write [FILE…]   fill in the generated parts, then check (make docs)
  go run ./internal/lab/book -stamp FILE…     the English of FILE says again what the Chinese says;
                                              FILE#id: only that section
  go run ./internal/lab/book -record [NAME…]  run the commands of docs/runs.yaml and keep what they
                                              print (make record RUN="name name")
  go run ./internal/lab/book -record -check   run them, keep nothing, and say which lines that
                                              pages show came out otherwise (make record CHECK=1)

A page takes part once one of its first lines is <!-- book -->. X.zh.md is written first, X.md
is its English: the same headings, blocks, links, tests, figures and questions.

How to write a page

  heading        A line <a id="short-id"></a> right above each ## and ###.
  translation    In English, <!-- zh:0123abcd --> below <!-- book --> and below each ##: the hash
                 of the Chinese section it was written from. -stamp writes it; don't type it.
  code           <!-- code: path/file.go#Type.Method -->           Func, Type, const and var, too
                 <!-- code: path/file.go#Func /from/,/to/ -->      from the first line that matches
                                                                   to the first from there on
                 <!-- code: path/file.go#Func doc -->              with its comment
                 -write puts the block below. At most 25 lines.
  code that is   <!-- sketch --> above a go block of at most 12 lines.
    not there
  output         <!-- run: name --> above a console block. Its first line is "$ command", the
                 others are lines of docs/runs/name.txt in their order; a line … stands for
                 those left out. docs/runs.yaml has the command:
                     name: {command: "go test ./q -run TestPop -v", timeout: 2m, exit: 0}
                 Times, ports, versions of objects and the like may differ; -write puts in
                 the recorded ones. Lines whose order changes from run to run can't be shown.
  other blocks   sh (what to type: targets, packages and tests must exist), text, yaml, diff.
  upstream       [words](up:client-go/tools/cache#Reflector.watch)       as go.mod has it
                 [words](up:client-go@v0.23.5/tools/cache#DeltaFIFO.Pop) as the article had it
                 -write makes a link to the tag of it. docs/upstream.lock keeps the hash of each
                 symbol: when an upgrade changes it, every sentence that links to it is named.
                 Look at them, take the symbol's line out of the lock, and make docs.
  tables         <!-- seed-map: 04 --> … <!-- /seed-map -->              docs/seed-map.yaml
                 <!-- bench: layer=04 --> … <!-- /bench -->              docs/BENCHMARKS.json
  the article    <!-- tells: M07 O12 --> above the paragraph that tells what the article has
                 wrong (M) or leaves out (O), by the ids of docs/seed-map.yaml.
  bug hunts      <!-- hunt: 05-2 --> above the paragraph that presents it.
  questions      <details><summary>question</summary> … </details>
  versions       Those of go.mod, of the control plane and of the article. A line that tells
                 history and names another ends with <!-- history -->.
`
