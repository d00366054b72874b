package httpapi_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestMain also checks, when all tests have run, that they met every code that the SDK names.
func TestMain(m *testing.M) {
	svctest.Main(m, nil, goleak.Cleanup(func(exit int) {
		if exit == 0 && allRan() {
			exit = unmetCodes()
		}
		os.Exit(exit)
	}))
}

// allRan reports whether no flag has chosen some of the tests.
func allRan() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz", "test.bench"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return true
}

// unmetCodes returns the exit code.
func unmetCodes() int {
	lines, err := unmet()
	if err == nil && len(lines) == 0 {
		return 0
	}
	for _, line := range lines {
		fmt.Println(line)
	}
	fmt.Println("the codes that methods of the SDK name:", err)
	return 1
}
