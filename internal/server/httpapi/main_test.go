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

func unmetCodes() int {
	named, err := namedCodes()
	if err == nil {
		var wrong []string
		if wrong, err = checkCodes(named); err == nil && len(wrong) == 0 {
			return 0
		}
		for _, line := range wrong {
			fmt.Println(line)
		}
	}
	fmt.Println("the codes of refusals:", err)
	return 1
}
