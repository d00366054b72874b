//go:build simulate

package simulate

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// TestSeeds runs seeds until their number, the time or the number of violations is reached. Its output
// is read by the program in the folder run.
func TestSeeds(t *testing.T) {
	total, bad, ran, began := map[string]int{}, 0, 0, time.Now()
	for ; ran < *seeds && bad < *stop && time.Since(began) < *seconds; ran++ {
		n := *first + uint64(ran)*(*stride)
		fmt.Println("begins", n)
		r := runSeed(t, n, allDecisions(*steps), false)
		if *hashes {
			fmt.Println("hash", n, r.hash)
		}
		for name, count := range r.stats {
			total[name] += count
		}
		total["requests"] += r.requests
		if len(r.violations) > 0 {
			bad++
			t.Fail()
			fmt.Printf("violation seed %d: %s\n", n, r.violations[0])
		}
	}
	total["seeds"], total["seeds with a violation"] = ran, bad
	data, err := json.Marshal(total)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("figures", string(data))
}
