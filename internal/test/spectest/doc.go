// Package spectest reads the specification in docs/spec and the citations of its
// clauses in the repository. A citation is a clause or a decision in brackets, such
// as [C8.5] or [D19]: in the comments of Go files, and anywhere in documents, scripts
// and configuration. After the word "spec:" in a test, it says that the test fails
// when the clause is broken; the page of contract coverage is made of those.
//
// Its test holds the repository to three rules: every citation resolves, every
// "spec:" is followed by citations, and public documentation holds none.
package spectest
