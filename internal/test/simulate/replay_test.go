//go:build simulate

package simulate

import (
	"fmt"
	"testing"
)

// TestReplay runs one seed, or some of its decisions, and prints the trace.
func TestReplay(t *testing.T) {
	list, err := parseList(*keep, *steps)
	if err != nil {
		t.Fatal(err)
	}
	r := runSeed(t, *seed, list, true)
	for _, line := range r.trace.lines {
		fmt.Println(line)
	}
	fmt.Println("hash", *seed, r.hash)
	for _, v := range r.violations {
		t.Error(v)
	}
}

// TestShrink prints the command for a list of decisions of which none can be left out.
func TestShrink(t *testing.T) {
	r := runSeed(t, *seed, allDecisions(*steps), false)
	if len(r.violations) == 0 {
		t.Fatalf("seed %d violates nothing: there is nothing to shrink", *seed)
	}
	rule, runs := r.violations[0].rule, 0
	list := shrink(allDecisions(*steps), func(list []int) bool {
		runs++
		r := runSeed(t, *seed, list, false)
		return len(r.violations) > 0 && r.violations[0].rule == rule
	})
	fmt.Printf("%d of %d decisions violate the rule %q, found by %d runs:\n", len(list), *steps, rule, runs)
	fmt.Printf("  make simulate SEED=%d STEPS=%d KEEP=%s\n", *seed, *steps, formatList(list))
}
