// Package devterminal tests `svcctl dev` as a person uses it: from a shell in a real terminal,
// that of tmux. The tests have the build tag terminal and fail without tmux
// (make test-dev-terminal).
package devterminal
