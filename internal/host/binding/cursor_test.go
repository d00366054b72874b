package binding_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// A cursor is read as it was made, or refused: any other text, and one of another list.
func FuzzCursor(f *testing.F) {
	for _, text := range []string{"", "k", "é\x00\xff", "AAAAAAAAAAAiYSI", "!!", "e30"} {
		f.Add("kv", text)
	}
	f.Fuzz(func(t *testing.T, scope, text string) {
		var position string
		if err := binding.ReadCursor(scope, text, &position); err != nil && svc.CodeOf(err) != svc.CodeInvalidCursor {
			t.Errorf("%q: %v", text, err)
		}
		cursor, err := binding.Cursor(scope, text)
		if err != nil {
			t.Fatal(err)
		}
		valid := string([]rune(text)) // JSON has no other texts
		if err := binding.ReadCursor(scope, cursor, &position); err != nil || position != valid {
			t.Errorf("%q was read as %q: %v", text, position, err)
		}
		if err := binding.ReadCursor(scope+"x", cursor, &position); svc.CodeOf(err) != svc.CodeInvalidCursor {
			t.Errorf("a cursor of another list: %v", err)
		}
	})
}
