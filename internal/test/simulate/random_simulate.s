//go:build simulate

// Empty: it allows the functions without a body in random_test.go.
