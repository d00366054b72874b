// Package foreign has the commands and flags of other tools (wrangler, Vercel, Fly.io, Heroku, Docker, git, kubectl) and
// what to type instead of each. The table words.tsv is the only source: the command line answers from it, and
// internal/gendocs makes the page docs/reference/words.md of it.
//
// A row is an alias, whose command runs, or a hint, one sentence with command lines in backticks. A command that means
// something else here, or that changes data, is a hint. No row leads to a promote: what other tools call a deploy or a
// promote keeps the data, which is a release here.
package foreign
