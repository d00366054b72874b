// Command prog hits a failpoint three times and says so before each.
package main

import (
	"fmt"

	"github.com/svcctl/svcctl/internal/lib/failpoint"
)

func main() {
	for i := range 3 {
		fmt.Println("hit", i+1)
		failpoint.Hit("test/place")
	}
	fmt.Println("end")
}
