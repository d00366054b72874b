package dotenv_test

import (
	"math/rand/v2"
	"testing"

	"github.com/svcctl/svcctl/internal/client/dotenv"
)

// TestFormatSeveral: what Format writes for one variable changes no other one.
func TestFormatSeveral(t *testing.T) {
	t.Parallel()
	odd := []rune("'\"`\\\n\r #=$ab:\u00a0")
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		vars := map[string]string{}
		for _, name := range []string{"A", "B"} {
			var value []rune
			for range random.IntN(7) {
				value = append(value, odd[random.IntN(len(odd))])
			}
			vars[name] = string(value)
		}
		text, unwritable := dotenv.Format(vars)
		got, err := dotenv.Parse([]byte(text))
		for name, value := range vars {
			if back, written := got[name]; err != nil || written && back != value || !written && len(unwritable) == 0 {
				t.Fatalf("%q became %q, %v, by %q", vars, got, err, text)
			}
		}
	}
}
