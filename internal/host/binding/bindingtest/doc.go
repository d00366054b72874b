// Package bindingtest tests binding kinds: Run is what every kind must pass,
// Start runs a worker in the real workerd with its bindings served by this
// program, and StartOracle runs it with the bindings that workerd itself has,
// to compare answers.
package bindingtest
